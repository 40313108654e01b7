"""Language features of PTX text for editors, one module each; `pyptx lsp` serves them.

Every feature accepts any text, also text that is not valid PTX. Positions are offsets into the text; `text.Document`
converts them to lines and columns.
"""
