"""Compatibility alias: the trace of a kernel under the module name of the 0.1 API."""

from pyptx.tracing.trace import TraceContext, get_ctx, trace_scope

__all__ = ["TraceContext", "get_ctx", "trace_scope"]
