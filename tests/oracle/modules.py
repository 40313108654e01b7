"""Modules that are right or wrong as a whole, one a line: what the oracle compares `check_ptx` with ptxas on.

Directives of functions, statements that name what a frame declares, declarations of a module and of a body.
"""

__all__ = ["DECLARATIONS", "DIRECTIVES", "INSIDE", "STATEMENTS", "SYMBOLS", "body", "module", "named", "uses"]

DIRECTIVES = """
.reqntid 128
.reqntid 128,1,1
.reqntid 1,2,3,4
.reqntid 0
.reqntid -1
.reqntid
.reqntid 2000
.reqntid 1025
.reqntid 64,64,64
.maxntid 128
.maxntid 0
.maxntid 4096
.maxntid 128 .reqntid 128
.maxntid 128 .maxntid 64
.reqntid 1 .reqntid 1
.maxnreg 32
.maxnreg 0
.maxnreg 300
.maxnreg 1,2
.maxnreg 32 .minnctapersm 2
.minnctapersm 2
.minnctapersm 0
.minnctapersm 1,2
.maxntid 128 .minnctapersm 2
.maxnctapersm 2
.maxntid 128 .maxnctapersm 2
.reqnctapercluster 2
.reqnctapercluster 0
.reqnctapercluster 2,1,1
.reqnctapercluster 2,1,1,1
.reqnctapercluster 32
.explicitcluster
.explicitcluster 1
.maxclusterrank 8
.maxclusterrank 0
.maxclusterrank 8 .reqnctapercluster 2
.blocksareclusters
.reqntid 32 .blocksareclusters
.reqntid 32 .reqnctapercluster 2 .blocksareclusters
.maxclusterrank 1,2
.noreturn
.bogus
.bogus 3
.abi_preserve 8
.abi_preserve_control 8
.minperctamemory 8
.pragma "nounroll";
.pragma "x";
.language 1
.maxnreg -1
.maxntid 1,0,1
.maxntid %r1
.maxntid 1+1
.maxntid 0x10
.maxnreg 5000000000
.maxntid 128,
.minnctapersm 4 .maxnreg 3 .reqntid 1
.explicitcluster .maxclusterrank 2
.explicitcluster .reqnctapercluster 2
"""

STATEMENTS = """
call (xr), f1, (xa, xb);
call (xr), f1, (xa);
call (xr), f1, (xa, xb, xa);
call f1, (xa, xb);
call (xr), f1;
call f1;
call (xa), f1, (xa, xb);
call (xb), f1, (xa, xb);
call (xr), f1, (xb, xa);
call (xr), f1, (%r1, %rd1);
call (%r1), f1, (xa, xb);
call (%r1), f1, (%r1, %rd1);
call (xr), f1, (1, xb);
call (xr), f1, (xa, 2);
call (%r1), f2, (%r2);
call (%r1), f2, (xa);
call (xr), f2, (%r2);
call (%r1), f2, (%rd2);
call (%rd1), f2, (%r2);
call (%f1), f2, (%f2);
call (%r1), f2, (5);
call (%r1), f2, (%f1);
call f0;
call f0, ();
call (xr), f0;
call f0, (xa);
call nofn;
call k;
call g;
call (_), f2, (%r1);
call (_), f1, (xa, xb);
call ef, (xa);
call ef, (xc);
call ef, (%r1);
call.uni f0;
call (%h1), f2, (%r1);
call (xr, xa), f1, (xa, xb);
call (xr), f1, (xa, xc);
call (xr), f1, (nosym, xb);
call (xr), f1, (g, xb);
call (xr), f1, (p, xb);
call ef, (1.0);
call ef, (%f1);
P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call (xr), %rd1, (xa, xb), P;
P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call (xr), %rd1, (xa), P;
P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call %rd1, (xa, xb), P;
P: .callprototype _ (); call %rd1, P;
P: .callprototype _ (); call %rd1, (), P;
P: .callprototype _ (); call %r1, P;
call %rd1, NOP;
L: call %rd1, L;
call %rd1;
P: .callprototype _ (); call %rd1, (xa), P;
P: .callprototype _ (); call f0, P;
P: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r1), %rd1, (%r2), P;
P: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r1), %rd1, (%rd2), P;
P: .callprototype (.param .align 8 .b8 _[16]) _ (.param .align 8 .b8 _[16]); call (xc), %rd1, (xc), P;
P: .callprototype (.param .align 8 .b8 _[16]) _ (.param .align 8 .b8 _[8]); call (xc), %rd1, (xc), P;
P: .callprototype (.param .align 4 .b8 _[16]) _ (.param .align 16 .b8 _[16]); call (xc), %rd1, (xc), P;
T: .calltargets f0; call %rd1, T;
T: .calltargets f0, nofn; call %rd1, T;
T: .calltargets f1; call %rd1, T;
T: .branchtargets L, M; L: M: brx.idx %r1, T;
T: .branchtargets L, NOL; L: M: brx.idx %r1, T;
brx.idx %r1, T;
L: brx.idx %r1, L;
ld.global.b32 %r1, [%rd1+08];
ld.global.b32 %r1, [%rd1+07];
ld.global.b32 %r1, [%rd1+4*2];
ld.global.b32 %r1, [%rd1+(4*2)];
ld.global.b32 %r1, [%rd1+d0];
ld.global.b32 %r1, [4+d0];
ld.global.b32 %r1, [%rd1+0x10];
ld.global.b32 %r1, [%rd1+4U];
ld.global.b32 %r1, [%rd1+1.0];
ld.global.b32 %r1, [%rd1+WARP_SZ];
ld.global.b32 %r1, [%rd1-4];
ld.global.b32 %r1, [%rd1+-4];
ld.global.b32 %r1, [g+4+4];
ld.global.b32 %r1, [g+%r1];
ld.global.b32 %r1, [g+g];
ld.global.b32 %r1, [g-4];
ld.global.b32 %r1, [g+-4];
ld.global.b32 %r1, [4+g];
ld.global.b32 %r1, g[2];
ld.global.b32 %r1, g[%r1];
ld.global.b32 %r1, [g[2]];
ld.global.b32 %r1, [g+9999999999999999999999];
mov.b32 %r1, 08;
mov.b32 %r1, 09U;
mov.b32 %r1, 0x;
mov.b32 %r1, 0xG;
mov.b32 %r1, 1+2;
mov.b32 %r1, (1+2)*3;
mov.b32 %r1, 1/0;
mov.b32 %r1, 1%0;
mov.b32 %r1, 1.0+2;
mov.b32 %r1, 3>2?1:0;
mov.b32 %r1, !0;
mov.b32 %r1, ~1;
mov.b32 %r1, 1<<40;
mov.b32 %r1, 99999999999;
mov.b32 %r1, 18446744073709551615;
mov.b32 %r1, 18446744073709551616;
mov.b32 %r1, -9223372036854775809;
mov.b32 %r1, 0b12;
mov.b32 %r1, 0b101;
mov.b32 %r1, 10u;
mov.b32 %r1, a+1;
mov.b32 %r1, s+4;
mov.b32 %r1, s+4+4;
mov.b32 %r1, s-4;
mov.b64 %rd1, g+4*2;
mov.b32 %r1, 4+s;
mov.b32 %r1, s*2;
mov.b64 %rd1, generic(g);
mov.b64 %rd1, generic(g)+4;
mov.b32 %r1, (s64)1;
mov.b32 %r1, (.s64)1;
mov.b32 %r1, 1 2;
mov.f32 %f1, 1.0+1.0;
mov.f32 %f1, -1.0;
mov.f32 %f1, 0f3f80000;
mov.f32 %f1, 0f3f800000;
mov.f32 %f1, -0f3f800000;
mov.f32 %f1, 1;
mov.f32 %f1, 1e3;
mov.f32 %f1, 1e999;
mov.f32 %f1, (1.0);
mov.b32 %r1, (1;
add.u32 %r1, %r1, 1&&0;
add.u32 %r1, %r1, 5%3;
shl.b32 %r1, %r1, 100;
mov.b32 %r1, --1;
mov.b32 %r1, -+1;
mov.b32 %r1, +1;
mov.b16 %h1, 70000;
mov.b64 %rd1, 0xFFFFFFFFFFFFFFFF1;
mov.b32 %r1, 1.5;
mov.b32 %r1, WARP_SZ*2;
mov.b32 %r1, 1<2;
mov.b32 %r1, 1==1;
ld.global.b32 %r1, [%rd1+(1?4:8)];
ld.global.b32 %r1, [g].unified;
ld.global.b32 %r1, [%rd1].unified;
ld.b32 %r1, [%rd1].unified;
ld.global.v2.b32 {%r1,%r2}, [g].unified;
st.global.b32 [g].unified, %r1;
ld.shared.b32 %r1, [s].unified;
ldu.global.b32 %r1, [g].unified;
mov.b64 %rd1, g.unified;
ld.global.nc.b32 %r1, [%rd1].unified;
prefetch.global.L1 [g].unified;
ld.const.b32 %r1, [c].unified;
st.global.b32 [%rd1].unified, %r1;
st.b32 [%rd1].unified, %r1;
ldu.global.b32 %r1, [%rd1].unified;
atom.global.add.u32 %r1, [%rd1].unified, 1;
ld.shared.b32 %r1, [%r1].unified;
ld.volatile.global.b32 %r1, [%rd1].unified;
ld.global.v2.b32 {%r1,%r2}, [%rd1].unified;
ld.relaxed.gpu.global.b32 %r1, [%rd1].unified;
red.global.add.u32 [%rd1].unified, 1;
prefetch.global.L1 [%rd1].unified;
ld.const.b32 %r1, [%rd1].unified;
ld.local.b32 %r1, [%rd1].unified;
ld.b32 %r1, [s].unified;
ld.b32 %r1, [g].unified;
ld.param.b32 %r1, [p].unified;
cp.async.ca.shared.global [%r1], [%rd1].unified, 4;
"""

DECLARATIONS = """
.visible .global .b32 x;
.extern .global .b32 x;
.extern .global .b32 x[];
.global .b32 x[];
.weak .global .b32 x;
.common .global .b32 x;
.common .shared .b32 x;
.common .const .b32 x;
.extern .shared .b32 x[];
.shared .b32 x[];
.extern .const .b32 x[];
.extern .global .b32 x = 3;
.global .b32 x = 3;
.global .b32 x[2] = {1, 2};
.global .b32 x[2] = {1, 2, 3};
.global .b32 x[2] = {1};
.global .b32 x[] = {1,2};
.shared .b32 x = 3;
.const .b32 x = 3;
.local .b32 x;
.param .b32 x;
.reg .b32 x;
.global .pred x;
.global .b32 x, x;
.global .b32 x; .global .b32 x;
.global .b32 x; .shared .b32 x;
.extern .global .b32 x; .global .b32 x;
.extern .global .b32 x; .extern .global .b32 x;
.extern .global .b32 x; .extern .global .b64 x;
.extern .global .b32 x; .visible .global .b32 x;
.global .align 3 .b32 x;
.global .align 0 .b32 x;
.global .align 256 .b32 x;
.global .align 2 .b32 x;
.global .v2 .b32 x;
.global .v8 .b32 x;
.global .v4 .b64 x;
.global .f16 x;
.global .f16x2 x;
.global .bf16 x;
.global .b128 x;
.global .f32 x = 1.0;
.global .f32 x = 1;
.global .b32 x = 1.0;
.global .f16 x = 1.0;
.global .b64 x = y;
.global .b32 y; .global .b64 x = y;
.global .b32 y; .global .b32 x = y;
.global .b32 y; .global .b64 x = generic(y);
.global .b32 y; .global .b64 x = y+4;
.global .b32 y; .global .b8 x[8] = {y, 0};
.global .b32 y; .global .b8 x[2] = {0xFF(y), 0xFF00(y)};
.global .b32 x = {1};
.global .b32 x[2] = 1;
.global .b32 x[2][2] = {{1,2},{3,4}};
.global .b32 x[2][2] = {1,2,3,4};
.global .b32 x[0];
.global .b32 x[-1];
.global .b32 x[2*3];
.global .u8 x = 256;
.global .u8 x = "a";
.global .texref x;
.global .samplerref x;
.global .surfref x;
.shared .texref x;
.visible .shared .b32 x;
.visible .const .b32 x;
.visible .func f() { ret; }
.weak .func f() { ret; }
.extern .func f() { ret; }
.common .func f() { ret; }
.extern .func f();
.func f();
.func f() {ret;} .func f() {ret;}
.func f(); .func f() {ret;}
.func f(); .func f(.param .b32 a) {ret;}
.func f(.param .b32 a); .func f(.param .b32 a) {ret;}
.func f(.param .b32 a); .func f(.param .b64 a) {ret;}
.extern .func f(); .func f() {ret;}
.extern .func f(); .visible .func f() {ret;}
.func (.param .b32 r) f(); .func f() {ret;}
.entry e(.param .b32 a, .param .b32 a) {ret;}
.entry e(.reg .b32 a) {ret;}
.entry e(.param .pred a) {ret;}
.entry e(.param .b32 a[]) {ret;}
.func f(.param .b8 a[]) {ret;}
.func f(.param .b32 a[]) {ret;}
.func f(.param .b8 a[], .param .b32 b) {ret;}
.entry e(.param .b8 a[5000]) {ret;}
.entry e(.param .b8 a[32764]) {ret;}
.entry e(.param .b8 a[32765]) {ret;}
.entry e(.param .align 3 .b8 a[4]) {ret;}
.entry e(.param .u64 .ptr .global .align 3 a) {ret;}
.entry e(.param .u32 .ptr a) {ret;}
.entry e(.param .f32 .ptr a) {ret;}
.entry e(.param .v2 .b32 a) {ret;}
.func e(.reg .pred a) {ret;}
.func (.reg .b32 a, .reg .b32 b) e() {ret;}
.func (.param .b32 a, .param .b32 b) e() {ret;}
.extern .entry e();
.visible .entry e();
.entry e() {ret;} .entry e() {ret;}
.global .b32 e; .entry e() {ret;}
.common .entry e() {ret;}
.weak .entry e() {ret;}
.alias a, b;
.func b() {ret;} .alias a, b;
.func a(); .func b() {ret;} .alias a, b;
.func a() {ret;} .func b() {ret;} .alias a, b;
.func a(.param .b32 x); .func b() {ret;} .alias a, b;
.func a(); .func b(); .alias a, b;
.pragma "x";
.pragma x;
.attribute(.managed) .global .b32 x;
.global .attribute(.managed) .b32 x;
.shared .attribute(.managed) .b32 x;
.global .attribute(.unified(1,2)) .b32 x;
.global .attribute(.bogus) .b32 x;
.global .attribute(.managed, .managed) .b32 x;
.file 1 "a";
.file 1 "a" .file 1 "b"
.const .b8 x[65536];
.const .b8 x[65537];
.const .b8 x[40000]; .const .b8 y[40000];
.shared .b8 x[49152];
.shared .b8 x[500000];
.global .b8 x[99999999999];
.visible .visible .global .b32 x;
.visible .extern .global .b32 x;
.global .s32 x = -5;
.global .u64 x = 18446744073709551616;
.weak .shared .b32 x;
.weak .const .b32 x;
.entry e(.param .texref t) {ret;}
.entry tid() {ret;}
.entry add() {ret;}
.entry WARP_SZ() {ret;}
.global .b32 y; .global .u64 x = y;
.global .b32 y; .global .s64 x = y;
.global .b32 y; .global .u32 x = y;
.global .b32 y; .global .u64 x = generic(y);
.global .b32 y; .global .u64 x = y+4;
.global .b32 y; .global .u64 x[2] = {y, 0};
.global .b32 y; .global .u64 x = 4+y;
.global .b32 y; .global .u64 x = y-4;
.global .b32 y; .global .u8 x[8] = {0xFF(y), 0xFF00(y), 0xFF0000(y), 0xFF000000(y), 0xFF00000000(y),0,0,0};
.global .b32 y; .global .u8 x[8] = {y,0};
.global .b32 y; .global .f64 x = y;
.func f() {ret;} .global .u64 x = f;
.const .b32 y; .global .u64 x = y;
.shared .b32 y; .global .u64 x = y;
.global .u64 x = x;
.global .u64 x = y; .global .b32 y;
.global .s32 x = 1.5;
.global .b32 x = 1.5;
.global .u32 x = 1.5;
.global .b64 x = 1.5;
.global .b8 x = 1.5;
.global .f32 x[2] = {1, 2};
.global .f32 x[2] = {1.0, 2};
.global .f64 x = 0d3ff0000000000000;
.global .f32 x = 0f3f800000;
.global .b32 x = 0f3f800000;
.global .f32 x = 1+1;
.global .f32 x = 1.0+1.0;
.global .f32 x = -1.0;
.global .v2 .f32 x = {1.0, 2.0};
.global .v4 .b32 x[2] = {{1,2,3,4},{5,6,7,8}};
.global .v4 .b32 x[2] = {1,2,3,4,5,6,7,8};
.global .v4 .b32 x = {1,2,3,4,5};
.global .b32 x[2][2] = {{1,2,3},{4}};
.global .b32 x[][2] = {{1,2},{3,4}};
.extern .global .b32 x[][2];
.global .b32 x[2][];
.global .bf16 x = 1.0;
.global .f16x2 x = 1;
.global .b128 x = 1;
.global .b16 x = 1.0;
.global .pred x = 1;
.const .u64 x[] = {1};
.global .b8 x[4] = "abc";
.extern .shared .b8 x[4];
.extern .shared .b8 x;
.extern .const .b8 x[4] = {1};
.weak .func f();
.visible .func f();
.func f() .noreturn { ret; }
.func (.reg .b32 r) f() .noreturn { ret; }
.func f() .abi_preserve 8 { ret; }
.func f() .abi_preserve 0 { ret; }
.func f() .abi_preserve 300 { ret; }
.func f() .abi_preserve_control 8 { ret; }
.func f() .noreturn;
.func f() .abi_preserve 4;
.entry e() .language 1 { ret; }
.func e() .language 1 { ret; }
.func e() .language 1;
.entry e() .language 11 { ret; }
.entry e() .language 10 { ret; }
.entry e() .language "PTX" { ret; }
.entry e() .language "Foo" { ret; }
.entry e() .minperctamemory 8 { ret; }
.entry e() .minperctamemory 0 { ret; }
.entry e() .pragma "x"; .maxntid 3 {ret;}
.entry e() .reqntid "x" {ret;}
.entry e() .maxntid -1 {ret;}
.entry e() .maxntid 1+1 {ret;}
.entry e() .maxntid %r1 {ret;}
.entry e(.param .samplerref t) {ret;}
.func f(.reg .b32 a); .func f(.reg .f32 a) {ret;}
.func f(.reg .b32 a); .func f(.reg .u32 b) {ret;}
.func f(.param .b32 a); .func f(.reg .b32 a) {ret;}
.visible .func f(); .func f() {ret;}
.func f(); .visible .func f() {ret;}
.weak .func f(); .func f() {ret;}
.entry e(); .entry e() {ret;}
.func f(); .entry f() {ret;}
.extern .func f(.param .b32 a); .extern .func f(.param .b32 b);
.func f() {ret;} .func f();
.global .b32 f; .func f();
.entry e(.param .align 64 .b8 a[128]) {ret;}
.entry e(.param .u32 .ptr .global a) {ret;}
.func q() .pragma "x"; { ret; }
.entry e() .pragma "x", "y"; {ret;}
.entry e() .pragma 3; {ret;}
.func f(.param .b32 a) { .reg .b64 %r; mov.b64 %r, a; ret; }
.func (.param .b32 a) f() { .reg .b64 %r; mov.b64 %r, a; ret; }
.func f(.param .b32 a) { .reg .b32 %r; ld.param::entry.b32 %r, [a]; ret; }
.func f(.param .b32 a) { .reg .b32 %r; ld.param::func.b32 %r, [a]; ret; }
.func f(.param .b32 a) { .reg .b32 %r; st.param.b32 [a], %r; ret; }
.func (.param .b32 a) f() { .reg .b32 %r; ld.param.b32 %r, [a]; ret; }
.func g(.param .b32 a) {ret;} .func f(.param .b32 b) { call g, (b); ret; }
.func g(.param .b8 a[4]) {ret;} .func f() { .param .b32 b; call g, (b); ret; }
.func g(.param .b8 a[4]) {ret;} .func f() { .param .align 4 .b8 b[4]; call g, (b); ret; }
.func g(.param .align 4 .b8 a[4]) {ret;} .func f() { .param .b32 b; call g, (b); ret; }
.func g(.param .b32 a) {ret;} .func f() { .param .align 8 .b32 b; call g, (b); ret; }
.func g(.param .f32 a) {ret;} .func f() { .param .b32 b; call g, (b); ret; }
.func g(.param .f32 a) {ret;} .func f() { .reg .b32 b; call g, (b); ret; }
.func g(.param .b32 a) {ret;} .func f() { .reg .b64 b; call g, (b); ret; }
.func g(.reg .pred a) {ret;} .func f() { .reg .b32 b; call g, (b); ret; }
.func g(.param .b8 a[]) {ret;} .func f() { .param .align 8 .b8 b[16]; call g, (b); ret; }
.func g(.param .b32 a) {ret;} .func f() { .param .s32 b; call g, (b); ret; }
.func g(.param .b16 a) {ret;} .func f() { .reg .b32 b; call g, (b); ret; }
.func g(.param .b32 a) {ret;} .func f() { .reg .b16 b; call g, (b); ret; }
.func g(.param .b32 a[2]) {ret;} .func f() { .param .b64 b; call g, (b); ret; }
.func g(.param .b32 a[2]) {ret;} .func f() { .param .u32 b[2]; call g, (b); ret; }
.func g(.param .b8 a) {ret;} .func f() { .reg .b32 b; call g, (b); ret; }
.func (.param .b32 r) g() {ret;} .func f() { .reg .pred b; call (b), g; ret; }
.func g(.reg .f32 a) {ret;} .func f() { .reg .b32 b; call g, (b); call g, (1); call g, (1.0); ret; }
.func g(.reg .b32 a) {ret;} .func f() { call g, (1.0); ret; }
.func g(.reg .b64 a) {ret;} .func f() { call g, (0f3f800000); ret; }
.func g(.reg .f64 a) {ret;} .func f() { call g, (1); ret; }
.func g(.reg .pred a) {ret;} .func f() { call g, (1); ret; }
.func f() { ret; } .func f2() { .reg .b64 %r; L: mov.b64 %r, f2; mov.b64 %r, f3; ret; } .func f3() {ret;}
.func f2() { call f3; ret; } .func f3() {ret;}
.func f2() { ld.global.b32 _, [zz]; ret; } .global .b32 zz;
.func f2() { .reg .b32 %r; ld.global.b32 %r, [zz]; ret; } .global .b32 zz;
"""

INSIDE = """
.reg .b32 a, a;
.reg .b32 %r<5>;
.reg .b32 %r0;
.reg .b32 a; .reg .b64 a;
.reg .b32 a; { .reg .b64 a; }
.reg .b32 pp;
.reg .b32 gg;
.shared .b32 x; .shared .b32 x;
.local .b32 x = 4;
.global .b32 x = 4;
.const .b32 x;
.shared .b32 x = 4;
.extern .shared .b32 x[];
.shared .b32 x[];
.local .b32 x[];
.param .b32 q[];
.reg .pred p<2>;
.reg .v2 .b32 v;
.reg .v4 .f32 v;
.reg .v2 .pred v;
.reg .v8 .b32 v;
.reg .bf16 h;
.reg .tf32 h;
.reg .f16x2 h;
.reg .b128 q;
.reg .b8 h;
.reg .b32 z<0>;
.reg .b32 z<-1>;
.reg .b32 z<99999999>;
.reg .align 4 .b32 z;
.visible .shared .b32 x;
.local .pred x;
.shared .f16 x;
.shared .bf16 x;
L: L:
L: { L: }
.reg .b32 L; L:
.shared .b32 L; L:
.pragma "nounroll";
.pragma "bogus";
.loc 1 1 1
.reg .e4m3 x;
P: .callprototype _ (); P: .callprototype _();
.func x() {ret;}
.weak .shared .b32 x;
.shared .align 3 .b32 x;
.local .align 5 .b32 x;
T: .branchtargets L; L:
T: .calltargets kk;
.shared .texref x;
.reg .b32 %tid;
.reg .b32 _;
.reg .b32 WARP_SZ;
.reg .b32 add;
.reg .b32 x1, x<3>;
.reg .b32 x<3>, x1;
.shared .b32 kk;
{ .reg .b32 q; } mov.b32 q, 1;
mov.b32 w, 1; .reg .b32 w;
{ mov.b32 w, 1; } .reg .b32 w;
@%r1 bra L; L:
.param .b32 q = 1;
.reg .b32 q = 1;
.reg .b32 q[3];
.shared .b32 r<3>;
"""

SYMBOLS = "g c s ds l p pa xa nosym f1 k L %tid"
USES = """
ld.global.b32 %r1, [{}];
ld.shared.b32 %r1, [{}];
ld.const.b32 %r1, [{}];
ld.local.b32 %r1, [{}];
ld.param.b32 %r1, [{}];
ld.b32 %r1, [{}];
st.global.b32 [{}], %r1;
st.shared.b32 [{}], %r1;
st.local.b32 [{}], %r1;
st.param.b32 [{}], %r1;
st.b32 [{}], %r1;
mov.b64 %rd1, {};
mov.b32 %r1, {};
cvta.global.u64 %rd1, {};
cvta.shared.u64 %rd1, {};
cvta.to.shared.u64 %rd1, {};
atom.global.add.u32 %r1, [{}], 1;
atom.shared.add.u32 %r1, [{}], 1;
atom.add.u32 %r1, [{}], 1;
red.shared.add.u32 [{}], 1;
mbarrier.init.shared.b64 [{}], 1;
mbarrier.init.b64 [{}], 1;
ld.shared::cluster.b32 %r1, [{}];
ld.param::entry.b32 %r1, [{}];
ld.param::func.b32 %r1, [{}];
ld.volatile.global.b32 %r1, [{}];
cp.async.ca.shared.global [{}], [%rd1], 4;
cp.async.ca.shared.global [s], [{}], 4;
prefetch.global.L1 [{}];
isspacep.shared %p1, {};
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r1}}, [{}];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [%rd1], 16, [s];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 16, [{}];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [{}], 16, [s];
ldu.global.b32 %r1, [{}];
multimem.red.add.u32 [{}], %r1;
mapa.shared::cluster.u32 %r1, {}, 1;
add.u32 %r1, %r1, {};
bra {};
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}}, [{}];
"""

_HEADER = ".version 9.5\n.target sm_90\n.address_size 64\n"
_FRAME = """\
.global .align 16 .b32 g[64];
.const .align 16 .b32 c[64];
.shared .align 16 .b32 s[64];
.extern .shared .align 16 .b8 ds[];
.extern .func ef (.param .b32 q);
.func (.param .b32 r) f1 (.param .b32 a, .param .b64 b) { st.param.b32 [r], 1; ret; }
.func (.reg .b32 r) f2 (.reg .b32 a) { mov.b32 r, a; ret; }
.func f0 () { ret; }
"""
_LOCALS = """\
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %h<9>;
.local .align 16 .b32 l[8]; .param .b32 xa; .param .b64 xb; .param .b32 xr; .param .align 8 .b8 xc[16];
"""


def module(text: str) -> str:
    """Declarations in front of an empty entry."""
    return f"{_HEADER}{text}\n.visible .entry kk() {{ ret; }}\n"


def body(text: str, directives: str = "") -> str:
    """Statements in an entry, with something of every state space to name."""
    head = f".visible .entry k(.param .u64 p, .param .align 8 .b8 pa[16]) {directives}"
    return f"{_HEADER}{_FRAME}{head}\n{{\n{_LOCALS}{text}\nret;\n}}\n"


def named() -> dict[str, str]:
    """All of them, by what is special about each."""
    found = {f"{where} {line}": text for line in DIRECTIVES.splitlines() if line
             for where, text in (("entry", body("", line)), ("func", module(f".func q () {line} {{ ret; }}")),
                                 ("declared", module(f".func q () {line};")))}
    found |= {line: body(line) for line in STATEMENTS.splitlines() if line}
    found |= {line: module(line) for line in DECLARATIONS.splitlines() if line}
    entry = ".global .b32 gg;\n.entry e(.param .b32 pp) {{ .reg .b32 %r<4>;\n{}\nret; }}"
    found |= {f"inside {line}": module(entry.format(line)) for line in INSIDE.splitlines() if line}
    return found


def uses() -> dict[str, str]:
    """Every name of the frame in every kind of operand that takes one."""
    lines = [use.format(name) for name in SYMBOLS.split() for use in USES.splitlines() if use]
    return {line: body("L:\n" + line) for line in lines}
