// Decompression of raw deflate (RFC 1951). Synchronous, so that a view is mounted at once; DecompressionStream is not.

const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCES = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];

const LONGEST = 258;             // bytes that one symbol copies
const DAMAGED = "the data of this view is damaged";

/** A Huffman code: `table[next bits]` is symbol << 4 | length, for `bits` bits. */
function code(lengths) {
  const bits = Math.max(1, ...lengths), table = new Uint16Array(1 << bits), next = new Uint16Array(17), count = new Uint16Array(17);
  for (const length of lengths) count[length] += 1;
  count[0] = 0;
  for (let length = 1; length <= bits; length += 1) next[length + 1] = (next[length] + count[length]) << 1;
  lengths.forEach((length, symbol) => {
    if (!length) return;
    let reversed = 0, value = next[length]++;
    for (let bit = 0; bit < length; bit += 1) { reversed = reversed << 1 | value & 1; value >>= 1; }
    for (let at = reversed; at < table.length; at += 1 << length) table[at] = symbol << 4 | length;
  });
  return { bits, table };
}

/** Decompress a Uint8Array. Throws an Error where the data is not raw deflate. */
export function inflate(source) {
  let out = new Uint8Array(Math.max(1024, source.length * 6)), size = 0, at = 0, held = 0, count = 0;
  const need = bits => { while (count < bits) { held |= (source[at] ?? 0) << count; at += 1; count += 8; } };
  const take = bits => { need(bits); const value = held & (1 << bits) - 1; held >>>= bits; count -= bits; return value; };
  const symbol = ({ bits, table }) => {
    need(bits);
    const found = table[held & (1 << bits) - 1], length = found & 15;
    if (!length || at > source.length + 4) throw new Error(DAMAGED);
    held >>>= length;
    count -= length;
    return found >> 4;
  };
  const room = more => {
    if (size + more <= out.length) return;
    const larger = new Uint8Array(Math.max(size + more, out.length * 2));
    larger.set(out);
    out = larger;
  };
  const dynamic = () => {
    const literals = take(5) + 257, distances = take(5) + 1, given = take(4) + 4, lengths = new Array(19).fill(0), found = [];
    for (let i = 0; i < given; i += 1) lengths[ORDER[i]] = take(3);
    const first = code(lengths);
    while (found.length < literals + distances) {
      const next = symbol(first);
      if (next < 16) found.push(next);
      else {
        const value = next === 16 ? found.at(-1) : 0, times = next === 16 ? 3 + take(2) : next === 17 ? 3 + take(3) : 11 + take(7);
        for (let i = 0; i < times; i += 1) found.push(value);
      }
    }
    return [code(found.slice(0, literals)), code(found.slice(literals))];
  };
  const fixed = () => [code(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))), code(new Array(30).fill(5))];
  for (let last = 0; !last;) {
    last = take(1);
    const kind = take(2);
    if (kind === 0) {
      at -= count >> 3;                       // whole bytes that were read ahead
      held = count = 0;
      const length = source[at] | source[at + 1] << 8;
      at += 4;
      room(length);
      out.set(source.subarray(at, at + length), size);
      size += length;
      at += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixed() : dynamic();
    const { table } = literals, mask = (1 << literals.bits) - 1;
    for (;;) {
      room(LONGEST);
      while (count < 15) { held |= source[at++] << count; count += 8; }          // undefined counts as 0
      const found = table[held & mask], next = found >> 4;
      if (!(found & 15) || at > source.length + 4) throw new Error(DAMAGED);
      held >>>= found & 15;
      count -= found & 15;
      if (next < 256) { out[size++] = next; continue; }
      if (next === 256) break;
      const length = LENGTHS[next - 257] + take(LENGTH_BITS[next - 257]), near = symbol(distances);
      let from = size - DISTANCES[near] - take(DISTANCE_BITS[near]);
      if (length > 24 && from + length <= size) { out.copyWithin(size, from, from + length); size += length; continue; }
      for (const end = size + length; size < end;) out[size++] = out[from++];
    }
  }
  return out.subarray(0, size);
}
