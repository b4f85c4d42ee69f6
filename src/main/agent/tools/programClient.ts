/** Builds the script that gives a program in a sandbox the object `steward` and exchanges its calls with Steward. */
export function buildProgramClient(mark: string): string {
  return `import { createInterface } from 'node:readline'
const mark = ${JSON.stringify(mark)}
const ascii = (value) => (JSON.stringify(value) ?? 'null').replace(/[\\u007f-\\uffff]/g, (it) => '\\\\u' + it.charCodeAt(0).toString(16).padStart(4, '0'))
const say = (value) => new Promise((resolve) => process.stdout.write(mark + ascii(value) + '\\n', resolve))
const waiting = new Map()
let last = 0
createInterface({ input: process.stdin }).on('line', (line) => {
  const { call, result, error } = JSON.parse(line)
  const { resolve, reject } = waiting.get(call)
  waiting.delete(call)
  if (error === undefined) resolve(result)
  else reject(new Error(error))
})
globalThis.steward = new Proxy({}, {
  get: (_, name) => typeof name !== 'string' || name === 'then' ? undefined : (input = {}) => new Promise((resolve, reject) => {
    const call = ++last
    waiting.set(call, { resolve, reject })
    say({ call, name, input })
  }),
})
try {
  const program = await import('./program.mjs')
  await say({ done: (await program.default) ?? null })
} catch (error) {
  await say({ failed: String(error?.stack ?? error) })
}
process.exit(0)
`
}
