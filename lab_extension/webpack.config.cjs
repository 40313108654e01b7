// What the builder's own configuration is merged with.
const path = require("node:path");

const PYPTX = path.resolve(__dirname, "..", "pyptx");

module.exports = {
  // Module and chunk numbers in order of use: the output does not depend on the folder it is built in.
  optimization: { moduleIds: "natural", chunkIds: "natural" },
  resolve: {
    alias: {
      "pyptx-renderer": path.join(PYPTX, "renderer"),
      "pyptx-isa": path.join(PYPTX, "isa", "isa.json"),
    },
  },
};
