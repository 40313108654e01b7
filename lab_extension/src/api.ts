// Requests to pyptx/jupyter/server.py.

import { URLExt } from "@jupyterlab/coreutils";
import { ServerConnection } from "@jupyterlab/services";

import type { Finding } from "./logic/diagnostics.js";
import type { Kept } from "./logic/kernels.js";
import type { ViewData } from "./viewdata.js";

/** An error reported by the server; `missing` if its pyptx extension is not loaded. */
export class ApiError extends Error {
  constructor(message: string, readonly missing = false) {
    super(message);
  }
}

/** A query string; a list repeats its name. */
function queryOf(query: Record<string, string | string[]>): string {
  const parts = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => [value].flat().map(one => [name, one])));
  return parts.size ? `?${parts}` : "";
}

async function request<T>(name: string, query: Record<string, string | string[]> = {}, body?: object): Promise<T> {
  const settings = ServerConnection.makeSettings();
  const url = URLExt.join(settings.baseUrl, "pyptx", name) + queryOf(query);
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const response = await ServerConnection.makeRequest(url, init, settings);
  if (response.status === 404 && !(response.headers.get("content-type") ?? "").includes("json")) {
    throw new ApiError("the Jupyter server has not loaded the extension pyptx.jupyter.server", true);
  }
  const answer = await response.json();
  if (!response.ok) throw new ApiError(String(answer.message ?? response.statusText));
  return answer as T;
}

export const check = async (text: string, target: string | null): Promise<Finding[]> =>
  (await request<{ diagnostics: Finding[] }>("check", {}, { text, target })).diagnostics;

export interface Completion { start: number; end: number; offers: { text: string; kind: string; detail: string }[] }

export interface Help { start: number; end: number; text: string }

/** What may stand at an offset of PTX, or of Python with PTX in strings. */
export const complete = async (text: string, offset: number, python: boolean): Promise<Completion | null> =>
  (await request<{ found: Completion | null }>("complete", {}, { text, offset, python })).found;

/** Help, in Markdown, for the word at an offset. */
export const help = async (text: string, offset: number, python: boolean): Promise<Help | null> =>
  (await request<{ found: Help | null }>("help", {}, { text, offset, python })).found;

export const checkCuda = async (text: string, path: string | null): Promise<Finding[]> =>
  (await request<{ diagnostics: Finding[] }>("check-cuda", {}, { text, path })).diagnostics;

export const kernels = async (notebook: string | null): Promise<Kept[]> =>
  (await request<{ kernels: Kept[] }>("kernels", notebook === null ? {} : { notebook })).kernels;

export const versionView = async (version: string): Promise<ViewData> => (await request<{ view: ViewData }>("view", { version })).view;

export const fileView = async (path: string): Promise<ViewData> => (await request<{ view: ViewData }>("view", { path })).view;

export const diffView = async (before: string, after: string): Promise<ViewData> =>
  (await request<{ view: ViewData }>("diff", { before, after })).view;

/** Versions side by side. */
export const comparisonView = async (version: string[]): Promise<ViewData> => (await request<{ view: ViewData }>("compare", { version })).view;

/** The standalone page of a linked view. */
export const pageOf = async (view: object): Promise<string> => (await request<{ page: string }>("page", {}, { view })).page;
