"""Written by `python -m pyptx.isa.generate`; do not edit."""

from pyptx.ptx import cluster as cluster
from pyptx.ptx import cp as cp
from pyptx.ptx import fence as fence
from pyptx.ptx import mbarrier as mbarrier
from pyptx.ptx import mma as mma
from pyptx.ptx import tcgen05 as tcgen05
from pyptx.ptx import tma as tma
from pyptx.ptx import warp as warp
from pyptx.ptx import wgmma as wgmma
from pyptx.ptx.arithmetic import add as add
from pyptx.ptx.arithmetic import and_ as and_
from pyptx.ptx.arithmetic import mad as mad
from pyptx.ptx.arithmetic import mul as mul
from pyptx.ptx.arithmetic import not_ as not_
from pyptx.ptx.arithmetic import or_ as or_
from pyptx.ptx.arithmetic import selp as selp
from pyptx.ptx.arithmetic import setp as setp
from pyptx.ptx.arithmetic import shl as shl
from pyptx.ptx.arithmetic import shr as shr
from pyptx.ptx.arithmetic import sub as sub
from pyptx.ptx.arithmetic import xor_ as xor_
from pyptx.ptx.barrier import NamedBarrier as NamedBarrier
from pyptx.ptx.barrier import bar as bar
from pyptx.ptx.barrier import elect_sync as elect_sync
from pyptx.ptx.barrier import named_barrier as named_barrier
from pyptx.ptx.barrier import setmaxnreg as setmaxnreg
from pyptx.ptx.barrier import setmaxnreg_dec as setmaxnreg_dec
from pyptx.ptx.barrier import setmaxnreg_inc as setmaxnreg_inc
from pyptx.ptx.control import bra as bra
from pyptx.ptx.control import else_ as else_
from pyptx.ptx.control import if_ as if_
from pyptx.ptx.control import kloop as kloop
from pyptx.ptx.control import label as label
from pyptx.ptx.control import loop as loop
from pyptx.ptx.control import pragma as pragma
from pyptx.ptx.control import range_ as range_
from pyptx.ptx.control import ret as ret
from pyptx.ptx.control import scope as scope
from pyptx.ptx.data_movement import cvt as cvt
from pyptx.ptx.data_movement import ld as ld
from pyptx.ptx.data_movement import mov as mov
from pyptx.ptx.data_movement import st as st
from pyptx.ptx.debugging import check_ as check_
from pyptx.ptx.debugging import printf as printf
from pyptx.ptx.inline_ptx import file_ as file_
from pyptx.ptx.inline_ptx import loc as loc
from pyptx.ptx.inline_ptx import raw as raw
from pyptx.ptx.instructions import inst as inst
from pyptx.ptx.instructions import pipe as pipe
from pyptx.ptx.intrinsics import expr as expr
from pyptx.ptx.intrinsics import intrinsic as intrinsic
from pyptx.ptx.math import abs as abs
from pyptx.ptx.math import ceil as ceil
from pyptx.ptx.math import cos as cos
from pyptx.ptx.math import exp as exp
from pyptx.ptx.math import exp2 as exp2
from pyptx.ptx.math import floor as floor
from pyptx.ptx.math import fma as fma
from pyptx.ptx.math import log as log
from pyptx.ptx.math import log2 as log2
from pyptx.ptx.math import max as max
from pyptx.ptx.math import min as min
from pyptx.ptx.math import rcp as rcp
from pyptx.ptx.math import round as round
from pyptx.ptx.math import rsqrt as rsqrt
from pyptx.ptx.math import select as select
from pyptx.ptx.math import sin as sin
from pyptx.ptx.math import sqrt as sqrt
from pyptx.ptx.math import tanh as tanh
from pyptx.ptx.math import trunc as trunc
from pyptx.ptx.matrix import ldmatrix as ldmatrix
from pyptx.ptx.matrix import movmatrix as movmatrix
from pyptx.ptx.matrix import stmatrix as stmatrix
from pyptx.ptx.matrix import stmatrix_x4_trans_f32_bf16 as stmatrix_x4_trans_f32_bf16
from pyptx.ptx.memory import addr as addr
from pyptx.ptx.memory import cvta as cvta
from pyptx.ptx.memory import global_ptrs as global_ptrs
from pyptx.ptx.memory import param as param
from pyptx.ptx.memory import var as var
from pyptx.ptx.pipeline_state import PipelineState as PipelineState
from pyptx.ptx.pipeline_state import pipeline as pipeline
from pyptx.ptx.position import cluster_ctaid as cluster_ctaid
from pyptx.ptx.position import cluster_ctarank as cluster_ctarank
from pyptx.ptx.position import cluster_nctaid as cluster_nctaid
from pyptx.ptx.position import cluster_nctarank as cluster_nctarank
from pyptx.ptx.position import clusterid as clusterid
from pyptx.ptx.position import ctaid as ctaid
from pyptx.ptx.position import global_id as global_id
from pyptx.ptx.position import laneid as laneid
from pyptx.ptx.position import nclusterid as nclusterid
from pyptx.ptx.position import nctaid as nctaid
from pyptx.ptx.position import ntid as ntid
from pyptx.ptx.position import tid as tid
from pyptx.ptx.position import warpid as warpid
from pyptx.ptx.reductions import block_reduce as block_reduce
from pyptx.ptx.reductions import unroll as unroll
from pyptx.ptx.reductions import warp_reduce as warp_reduce
from pyptx.ptx.reductions import warp_scan as warp_scan
from pyptx.ptx.special import ctaid_x as ctaid_x
from pyptx.ptx.special import ctaid_y as ctaid_y
from pyptx.ptx.special import special as special
from pyptx.ptx.special import sreg as sreg
from pyptx.ptx.texture import suld as suld
from pyptx.ptx.texture import sured as sured
from pyptx.ptx.texture import sust as sust
from pyptx.ptx.texture import tex as tex
from pyptx.ptx.texture import tld4 as tld4
from pyptx.ptx.vectors import vector as vector

__all__ = ["NamedBarrier", "PipelineState", "abs", "add", "addr", "and_", "bar", "block_reduce", "bra", "ceil",
           "check_", "cluster", "cluster_ctaid", "cluster_ctarank", "cluster_nctaid", "cluster_nctarank",
           "clusterid", "cos", "cp", "ctaid", "ctaid_x", "ctaid_y", "cvt", "cvta", "elect_sync", "else_", "exp",
           "exp2", "expr", "fence", "file_", "floor", "fma", "global_id", "global_ptrs", "if_", "inst", "intrinsic",
           "kloop", "label", "laneid", "ld", "ldmatrix", "loc", "log", "log2", "loop", "mad", "max", "mbarrier",
           "min", "mma", "mov", "movmatrix", "mul", "named_barrier", "nclusterid", "nctaid", "not_", "ntid", "or_",
           "param", "pipe", "pipeline", "pragma", "printf", "range_", "raw", "rcp", "ret", "round", "rsqrt",
           "scope", "select", "selp", "setmaxnreg", "setmaxnreg_dec", "setmaxnreg_inc", "setp", "shl", "shr", "sin",
           "special", "sqrt", "sreg", "st", "stmatrix", "stmatrix_x4_trans_f32_bf16", "sub", "suld", "sured",
           "sust", "tanh", "tcgen05", "tex", "tid", "tld4", "tma", "trunc", "unroll", "var", "vector", "warp",
           "warp_reduce", "warp_scan", "warpid", "wgmma", "xor_"]
