"""Public names of the 0.1 API, one per line, with their signatures.

A line is `name`, `name(signature)` or `name = value`. In a signature `_` matches any parameter name; further parameters
of ours must be optional. Not provided: `ir.optimize`, other registries and helpers of torch_support and jax_support, and
the raw text that nodes held.
"""

KERNEL = (
    'arch="sm_90a", version=None, in_specs=None, out_specs=None, grid=None, block=(1, 1, 1), cluster=(1, 1, 1), '
    "smem=0, raw_params=None, extern_smem=False, reqntid=None, raw_directives=None"
)
LOAD = "*, dst, src, coord, mbar=None, cta_group=1, multicast_mask=None, pred=None"
TILE = "dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None"
STORE = "dst, src, coord, *, cache_hint=None, pred=None"
BINARY = "dtype, dst, a, b, *, pred=None"
AXES = ("x", "y", "z")


def _each(pattern: str, names: str | tuple | list) -> str:
    return "\n".join(pattern.format(name) for name in (names.split() if isinstance(names, str) else names))


PUBLIC_NAMES = {
    "pyptx": """
        kernel
        reg
        smem
        ptx
        intrinsic(fn)
        differentiable_kernel(fwd, bwd, *, save_for_backward=None, num_grad_inputs=None)
        Tile
        Layout
        detect_arch()
        __version__
    """,
    "pyptx.types": _each(
        "{0}", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 e4m3 e5m2 pred"
    )
    + """
        PtxType(name, bits)
        PtxType.ptx
        from_name(name)
    """,
    "pyptx.specs": """
        Layout.ROW.value = "row"
        Layout.COL.value = "col"
        Layout.TMA_128B.value = "tma_128b"
        Layout.TMA_64B.value = "tma_64b"
        Layout.TMA_32B.value = "tma_32b"
        Layout.INTERLEAVED.value = "interleaved"
        Tile(*_, dtype=None, layout=Layout.ROW, tma_box=None, tma_rank=2, tma_padding=False)
        Tile.rank
        Tile.symbolic_dims
        Tile.resolve_shape(env)
        Tile.extract_env(shape)
        Tile.matches(shape, dtype_name)
        Tile.wgmma_a(m, k, dtype, *, tile_m=None, tile_k=None)
        Tile.wgmma_b(k, n, dtype, *, tile_k=None, tile_n=None)
        unify_envs(_)
    """,
    "pyptx.kernel": f"""
        kernel(fn=None, *, {KERNEL})
        Kernel(fn, *, {KERNEL})
        {_each("Kernel.{0}", "in_specs out_specs grid block cluster smem arch template_params")}
        Kernel.ptx(**_)
        Kernel.module(**_)
        Kernel.sass(**_)
        Kernel.__call__(*_, **_)
        TensorSpec(name, shape=None, dtype=None, layout=None)
        TensorSpec.tma_desc()
        TmaDescriptorHandle(tensor)
    """,
    "pyptx.tracing.trace": """
        trace_scope(*, ptx_version=None)
        get_ctx()
        TraceContext
    """,
    "pyptx.reg": """
        scalar(dtype, init=None, name=None)
        array(dtype, count, name=None)
        from_(src, dtype)
        wgmma_frag(*, m, n, dtype, name=None)
        alloc(dtype)
        alloc_array(dtype, count)
        Reg(name, dtype)
        Reg.max(_)
        Reg.min(_)
        RegArray.__getitem__(_)
        RegArray.__setitem__(_, _)
        RegArray.__len__()
        RegArray.__iter__()
        RegArray.regs()
        RegArray.hw_order(*, reverse=False)
        NegPred(reg)
        PipeRef(left, right)
    """,
    "pyptx.smem": """
        alloc(dtype, shape, swizzle=None, align=None, name=None)
        alloc_with_layout(dtype, shape, swizzle=None, align=None, name=None, gmma_layout=None, gmma_major=None)
        wgmma_tile(dtype, shape, major="K", *, align=None, name=None)
        mbarrier(count, name=None)
        base(name=None)
        load(dtype, _)
        store(dtype, _, value)
        apply_swizzle(offset, swizzle)
        SharedAlloc
        SharedSlice(alloc, stage)
        MbarrierArray
        MbarrierRef
    """,
    "pyptx.ptx": f"""
        addr(base, offset=None)
        global_ptrs(*_)
        param(dtype, name, dst=None)
        cvta.param(src, dst=None)
        cvta.to_global(src, dst=None)
        var(space, dtype, name, *, size=None, align=None, linking=None)
        sreg(_)
        {_each("special.tid.{0}()", AXES)}
        {_each("special.ntid.{0}()", AXES)}
        {_each("special.ctaid.{0}()", AXES)}
        {_each("special.nctaid.{0}()", AXES)}
        {_each("special.clusterid.{0}()", AXES)}
        {_each("special.cluster_ctaid.{0}()", AXES)}
        {
        _each(
            "special.{0}()",
            "laneid warpid clock clock64 nwarpid smid nsmid gridid globaltimer cluster_ctarank "
            "dynamic_smem_size lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt",
        )
    }
        ctaid_x()
        ctaid_y()
        inst
        pipe(src)
        if_(_)
        else_()
        loop(label, *, pred=None)
        range_(start, stop, step=1)
        scope()
        kloop(total, *, unroll, body, loop_label="kloop")
        expr()
        label(name)
        bra(label, *, pred=None)
        ret(*, pred=None)
        pipeline(n_stages, *, cursor=None, phase=None)
        PipelineState(n_stages, cursor, phase)
        PipelineState.advance()
        raw(text)
        pragma(value)
        loc(file, line, col=0)
        file_(idx, name)
        intrinsic(fn)
        named_barrier(id, *, count=None)
        NamedBarrier(barrier_id, count)
        NamedBarrier.sync(*, pred=None)
        bar.sync(n=0, count=None)
        setmaxnreg(count, *, inc=True)
        setmaxnreg_inc(_)
        setmaxnreg_dec(_)
        elect_sync(dst, pred_out, mask)
        ldmatrix(*, dst, src, layout="x4", trans=False, pred=None)
        stmatrix(*, smem, regs, layout="x4", trans=False, shape="m8n8", pred=None)
        stmatrix_x4_trans_f32_bf16(*, frag, smem_base, lane, row_stride, tmp_bf16=None, tmp_pack=None)
        mov(dtype, dst, src, *, pred=None)
        add({BINARY})
        sub({BINARY})
        mul(dtype, dst, a, b, *, mode=None, pred=None)
        mad(*_, mode="lo", pred=None)
        {_each("{0}(" + BINARY + ")", "shl shr and_ or_ xor_")}
        not_(dtype, dst, a, *, pred=None)
        setp(cmp, dtype, p, a, b, *, pred_negate=None, pred=None)
        selp(dtype, dst, t, f, p, *, pred=None)
        cvt(dst_t, src_t, dst, src, *, rounding=None, ftz=False, sat=False, pred=None)
        ld(dtype, dst, addr, *, space="global", cache=None, pred=None)
        st(dtype, addr, src, *, space="global", cache=None, pred=None)
        _emit(opcode, modifiers, operands, pred=None)
    """,
    "pyptx.ptx.warp": _each("reduce_{0}(val, *, width=32)", "sum max min"),
    "pyptx.ptx.wgmma": """
        fence()
        commit_group()
        wait_group(n)
        mma_async(*, shape, dtype_d, dtype_a, dtype_b, d, a, b, scale_d=False, scale_a=1, scale_b=1, trans_a=0, trans_b=0, a_k_offset=0, b_k_offset=0, pred=None)
        make_descriptor(smem_base, *, leading_byte_offset, stride_byte_offset, swizzle=0, base_offset=0, addr_byte_offset=0)
        auto_descriptor(smem_base, *, dtype, shape, major)
        masked_descriptor(smem_addr, *, byte_offset=0, mask=0x3FF80, const_bits=MASKED_DESC_B128)
        SWIZZLE_NONE = 0
        SWIZZLE_128B = 1
        SWIZZLE_64B = 2
        SWIZZLE_32B = 3
        MASKED_DESC_B128 = 0x4000004000010000
    """,
    "pyptx.ptx.mma": """
        sync(*, shape, dtype_d, dtype_a, dtype_b, dtype_c, d, a, b, c, a_layout="row", b_layout="col", pred=None)
    """,
    "pyptx.ptx.cp": f"""
        async_.cg(dst, src, nbytes)
        async_.ca(dst, src, nbytes)
        async_.commit_group()
        async_.wait_group(n)
        async_.wait_all()
        async_.bulk
        async_bulk.commit_group()
        async_bulk.wait_group(n, *, read=False)
        {_each("async_bulk.tensor_{0}d(" + LOAD + ")", "1 2 3 4 5")}
        {_each("async_bulk.tensor_{0}d.store(*, dst, src, coord, pred=None)", "1 2 3 4 5")}
        {
        _each(
            "async_bulk.tensor_{0}d.shared_cta_global_tile(*, dst, src, coord, mbar, cta_group=1, pred=None)",
            "1 2 3 4 5",
        )
    }
        {_each("async_bulk.tensor.tile_{0}d(" + TILE + ")", "1 3 4 5")}
        async_bulk.tensor.tile_2d({TILE}, cta_group=1)
        {_each("async_bulk.tensor.im2col_{0}d", "3 4 5")}
        async_bulk.tensor.gather4_2d({TILE})
        async_bulk.tensor.scatter4_2d(dst, src, coord, *, mbar=None)
        {_each("async_bulk.tensor.store_{0}d(" + STORE + ")", "1 2 3 4 5")}
    """,
    "pyptx.ptx.tma": """
        load_3d(dst, src, row=None, col=None, mbar=None, coords=None, *, pred=None)
        load_3d_multicast(dst, src, row, col, mbar, mask, coords=None, *, issuer=None, pred=None)
        store_3d(dst, src, row=None, col=None, coords=None, *, pred=None)
    """,
    "pyptx.ptx.mbarrier": """
        init(mbar, count, *, pred=None)
        inval(mbar)
        arrive(mbar)
        arrive_expect_tx(mbar, tx)
        expect_tx(mbar, tx)
        try_wait(mbar, phase, *, parity=True)
        wait(mbar, phase, *, pred=None)
        array(base, byte_offset, count)
        MbarrierRing.__getitem__(_)
        MbarrierRing.at(_)
        MbarrierRing.init_all(count, *, pred=None)
        MbarrierRing.arrive_remote_all(cta, count=1, *, pred=None)
        Slot.init(count)
        Slot.wait(phase)
        Slot.arrive()
        Slot.arrive_expect_tx(tx)
        Slot.arrive_remote(cta, count=1)
        Slot.addr_reg()
        Slot.address_operand()
    """,
    "pyptx.ptx.fence": """
        proxy_async()
        proxy_async_shared_cta()
        proxy_async_generic_acquire_shared_cluster()
        mbarrier_init()
    """,
    "pyptx.ptx.cluster": """
        arrive(*, aligned=False)
        wait(*, aligned=False)
        sync(*, aligned=False)
        rank(r)
        map_shared_u32(addr, cta)
        arrive_remote(addr, cta, count=1, *, pred=None)
        arrive_multicast(addr, mask, count=1)
    """,
    "pyptx.ptx.tcgen05": """
        alloc(slot, ncols, *, cta_group=1)
        dealloc(taddr, ncols, *, cta_group=1)
        relinquish_alloc_permit(*, cta_group=1)
        mma(d, a_desc, b_desc, idesc, *, cta_group=1, kind="f16", enable_input_d=True, scale_d=None, sparse=False, ashift=False, collector_a=None, a_is_tmem=False, sparse_metadata=None, pred_operand=None, scale_c=None, pred=None, scale_a_tmem=None, scale_b_tmem=None, scale_vec=None)
        commit(mbar, *, cta_group=1, multicast=False, multicast_mask=None, space="cluster")
        fence_before_thread_sync()
        fence_after_thread_sync()
        wait_ld()
        wait_st()
        ld(dst, taddr, *, shape="16x128b", count=1, dtype="b32", pack=False)
        st(taddr, src, *, shape="16x128b", count=1, dtype="b32", unpack=False)
        cp(taddr, src, *, cta_group=1, size="128x256b", src_is_addr=None)
        shift(taddr, *, cta_group=1)
        make_instr_desc_f16bf16_f32(*, m=128, n=256, ab_dtype="bf16", a_major="K", b_major="K", scale_a=1, scale_b=1, saturate=False, sparse=False, max_shift=0)
        descriptor(smem_addr, *, byte_offset=0, stride_bytes, leading_bytes=16, swizzle="128B", version=1, base_offset=0, lbo_mode=0)
        masked_descriptor(smem_addr, *, byte_offset=0, mask=0x3FFF0, const_bits=BLACKWELL_MASKED_DESC_B128)
        BLACKWELL_MASKED_DESC_B128 = 0x4000404000010000
    """,
    "pyptx.wgmma_layout": """
        LayoutType.INTERLEAVE = 0
        LayoutType.B128 = 1
        LayoutType.B64 = 2
        LayoutType.B32 = 3
        Major.K = 0
        Major.MN = 1
        GmmaLayout(layout_type, leading_byte_offset, stride_byte_offset, tma_swizzle, smem_swizzle)
        GmmaLayout.swizzle_code
        pick_gmma_layout(*, elem_bytes, m_or_n, k, major)
        layout_for_a(*, dtype, m, k)
        layout_for_b(*, dtype, k, n)
    """,
    "pyptx.ir.nodes": """
        FormattingInfo(indent="", trailing="", blank_lines_before=0, preceding_comments=())
        RegisterOperand(name)
        LabelOperand(name)
        ImmediateOperand(text)
        VectorOperand(elements)
        ParenthesizedOperand(elements)
        AddressOperand(base, offset=None)
        NegatedOperand(operand)
        PipeOperand(left, right)
        Predicate(register, negated=False)
        Version(major, minor)
        Target(targets)
        AddressSize(size)
        RegDecl(type, name, count=None, formatting=None)
        VarDecl(state_space, type, name, array_size=None, alignment=None, initializer=None, linking=None, formatting=None)
        Instruction(opcode, modifiers=(), operands=(), predicate=None, formatting=None)
        Label(name, formatting=None)
        PragmaDirective(value, formatting=None)
        Comment(text)
        BlankLine()
        RawLine(text)
        Block(body, formatting=None)
        IntrinsicScope(name, args_repr, body, formatting=None)
        Param(state_space, type, name, array_size=None, alignment=None, ptr_state_space=None, ptr_alignment=None)
        FunctionDirective(name, values)
        Function(is_entry, name, params=(), return_params=None, body=(), linking=None, directives=(), formatting=None)
        Module(version, target, address_size, directives=())
        Operand
        Statement
        Directive
    """,
    "pyptx.ir.types": _each(
        "ScalarType.{0}",
        "B8 B16 B32 B64 B128 U8 U16 U32 U64 S8 S16 S32 S64 F16 F16X2 BF16 BF16X2 TF32 F32 F64 E4M3 E5M2 PRED",
    )
    + f"""
        {_each("StateSpace.{0}", "REG SREG CONST GLOBAL LOCAL PARAM SHARED")}
        StateSpace.SHARED_CTA.value = "shared::cta"
        StateSpace.SHARED_CLUSTER.value = "shared::cluster"
        {_each("LinkingDirective.{0}", "VISIBLE EXTERN WEAK COMMON")}
        {_each("{0}.from_ptx(text)", "ScalarType StateSpace LinkingDirective")}
        {_each("{0}.ptx", "ScalarType.B8 StateSpace.REG LinkingDirective.WEAK")}
    """,
    "pyptx.ir": _each(
        "{0}", "Module Function Instruction Label RegDecl VarDecl Param Block ScalarType StateSpace LinkingDirective"
    ),
    "pyptx.ir.compound": "CompoundExpr(instructions)",
    "pyptx.ir.normalize": """
        normalize_module(_)
        diff_modules(a, b, entry_only=False)
    """,
    "pyptx.emitter": "emit(module)",
    "pyptx.parser": "parse(_)",
    "pyptx.parser.parser": """
        parse(_)
        ParseError(message, line, col)
    """,
    "pyptx.parser.lexer": """
        tokenize(text)
        LexError(message, line, col)
    """,
    "pyptx.parser.tokens": """
        Token
        TokenKind
    """,
    "pyptx.spec": """
        strict(_)
        set_strict(_)
        is_strict()
        PtxValidationError(issues, *, user_frame=None)
        UnvalidatedInstructionWarning
        ValidationIssue(instruction, message, severity="error")
        ValidationError
        register_overload(spec)
        get_specs(opcode)
        validate_instruction(inst, spec_table=None)
        validate_or_raise(inst)
    """,
    "pyptx.spec.ptx": """
        INSTRUCTIONS
        ModifierGroup(name, options, required=False)
        InstructionSpec(opcode, modifier_groups=(), operand_pattern="", min_operands=0, max_operands=0, description="", since_version=(1, 0), arch=None)
    """,
    "pyptx.spec.validate": """
        validate_instruction(inst, spec_table=None)
        validate_or_raise(inst)
    """,
    "pyptx.codegen": """
        ptx_to_python(source, *, sugar=False)
        ir_to_python(module, *, sugar=False)
    """,
    "pyptx.codegen.codegen": """
        ptx_to_python(source, *, sugar=False)
        ir_to_python(module, *, sugar=False)
    """,
    "pyptx.codegen.sugar": "apply_sugar(module, *, kernel_name)",
    "pyptx.torch_support": "differentiable_kernel(fwd, bwd, *, save_for_backward=None, num_grad_inputs=None)",
    "pyptx.jax_support": """
        compile_ptx_to_cubin(ptx, arch, kernel_name="", dynamic_smem_bytes=0)
        ensure_ffi_registered()
        shim_is_available()
        shim_load_error()
    """,
    "pyptx.cache": """
        CacheKey(fn_id, template_kwargs, input_shapes, arch)
        CacheKey.hash()
        CacheEntry(key, ptx_source, cubin_bytes, metadata)
        CubinCache(cache_dir=None, enable_disk=True)
        CubinCache.get(key)
        CubinCache.put(entry)
        CubinCache.clear(*, disk=False)
        get_global_cache()
        set_global_cache(_)
        DEFAULT_CACHE_DIR
    """,
}
