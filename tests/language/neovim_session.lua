-- A session of Neovim with `pyptx lsp`; prints JSON. Arguments: the configuration, a .ptx file, a .py file.

local function until_(what, condition)
  if not vim.wait(60000, condition, 20) then error("never: " .. what) end
end

local function attached(file)
  vim.cmd.edit(file)
  until_("attached", function() return #vim.lsp.get_clients({ bufnr = 0, name = "pyptx" }) > 0 end)
  return vim.api.nvim_get_current_buf()
end

local function request(method, params)
  local answers, problem = vim.lsp.buf_request_sync(0, method, params, 60000)
  assert(answers, problem)
  for _, answer in pairs(answers) do
    assert(not answer.error, vim.inspect(answer.error))
    return answer.result
  end
end

local function at(pattern)
  vim.fn.cursor(1, 1)
  vim.fn.search(pattern, "c")
  return vim.lsp.util.make_position_params(0, vim.lsp.get_clients({ bufnr = 0, name = "pyptx" })[1].offset_encoding)
end

local function messages(buffer)
  return vim.tbl_map(function(one) return { one.lnum, one.col, one.message } end, vim.diagnostic.get(buffer))
end

local found = {}
dofile(arg[1])
local ptx = attached(arg[2])
until_("diagnostics", function() return #vim.diagnostic.get(ptx) == 1 end)
found.first = messages(ptx)
found.hover = request("textDocument/hover", at("add.s32")).contents.value
found.offered = #request("textDocument/completion", at("add.s32"))
at("%r9")
vim.cmd("s/%r9/%r1/")                                      -- an incremental edit
until_("no diagnostics", function() return #vim.diagnostic.get(ptx) == 0 end)
at("%r1, %tid")
vim.lsp.buf.rename("%value")
until_("renamed", function() return vim.fn.search("%value1, %tid", "n") > 0 end)
vim.lsp.inlay_hint.enable(true, { bufnr = ptx })
vim.lsp.codelens.refresh({ bufnr = ptx })
until_("hints", function() return #vim.lsp.inlay_hint.get({ bufnr = ptx }) > 0 end)
found.hint = vim.lsp.inlay_hint.get({ bufnr = ptx })[1].inlay_hint.label
until_("lenses", function()
  vim.lsp.codelens.refresh({ bufnr = ptx })
  vim.wait(100)
  local lens = vim.lsp.codelens.get(ptx)[1]
  found.lens = lens and lens.command.title
  return found.lens and found.lens:find("registers") ~= nil
end)
vim.lsp.buf.format({ bufnr = ptx, timeout_ms = 60000 })
found.text = table.concat(vim.api.nvim_buf_get_lines(ptx, 0, -1, false), "\n")
at("kernel")
vim.lsp.codelens.run()
until_("SASS", function() return vim.api.nvim_buf_get_name(0):find("%.sass$") ~= nil end)
found.sass = vim.fn.search("EXIT", "n") > 0
local python = attached(arg[3])
until_("diagnostics of Python", function() return #vim.diagnostic.get(python) == 1 end)
found.python = messages(python)
io.stdout:write(vim.json.encode(found))
vim.cmd("qall!")
