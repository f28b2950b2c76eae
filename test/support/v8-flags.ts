/**
 * Flags of every process in which tests open embedded databases, one after the other. On processors with memory protection
 * keys V8 may lose track of the pages of WebAssembly code then, and ends the process ("Check failed: jit_page.has_value()",
 * nodejs/node#64500).
 */
export const V8_FLAGS: readonly string[] = ['--no-memory-protection-keys']
