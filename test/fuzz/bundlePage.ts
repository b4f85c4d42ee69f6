/** Prints the script of the fuzzed page. It runs in a separate process, because the bundler leaves handles open. */
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const entry = fileURLToPath(new URL('./fuzzedTerminal.ts', import.meta.url))
const built = await build({
  configFile: false,
  logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"production"' },
  build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'fuzzed' } },
})
const [first] = Array.isArray(built) ? built : [built]
const chunk = first && 'output' in first ? first.output[0] : undefined
if (!chunk) throw new Error('The page of the fuzzer was not built.')
process.stdout.write(chunk.code)
