/** What stands around a program in its sandbox: the object `steward`, and the lines it speaks with Steward. */
export function programClient(mark: string): string {
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
  get: (_, name) => typeof name !== 'string' || name === 'then' ? undefined : (given = {}) => new Promise((resolve, reject) => {
    const call = ++last
    waiting.set(call, { resolve, reject })
    say({ call, name, given })
  }),
})
try {
  const program = await import('./program.mjs')
  await say({ done: (await program.default) ?? null })
} catch (failure) {
  await say({ failed: String(failure?.stack ?? failure) })
}
process.exit(0)
`
}
