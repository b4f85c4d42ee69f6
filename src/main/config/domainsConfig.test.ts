import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { RegistrarConfig, readRegistrarOptions } from './domainsConfig.ts'

const file = (text: string): string => {
  const path = join(temporaryFolder('registrar-config'), 'key')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const readOptions = (input: unknown) => readRegistrarOptions(RegistrarConfig.parse(input))

test('the test registry is the default', () => {
  expect(readOptions(undefined)).toEqual({ kind: 'local' })
})

test('a registrar has a URL, a trimmed key and real costs', () => {
  expect(readOptions({ namesilo: { api_key_file: file('0123456789abcdef\n') } })).toEqual({
    ...{ kind: 'namesilo', apiKey: '0123456789abcdef', paymentId: undefined },
    ...{ url: 'https://www.namesilo.com/api', isReal: true, settlesWithinMs: 900_000 },
  })
  const name_com = { username: 'ada', api_token_file: file('0123456789'), sandbox: true, order_wait_seconds: 60 }
  expect(readOptions({ name_com })).toEqual({
    ...{ kind: 'name.com', username: 'ada', token: '0123456789' },
    ...{ url: 'https://api.dev.name.com', isReal: false, settlesWithinMs: 60_000 },
  })
})

test.each([
  ['namecheap'],
  [{ namesilo: {} }],
  [{ namesilo: { api_key: 'in the file itself' } }],
  [{ name_com: { api_token_file: '/x' } }],
  [{ namesilo: { api_key_file: '/x', url: 'http://registrar.example/api' } }],
  [{ namesilo: { api_key_file: '/x' }, name_com: { username: 'ada', api_token_file: '/x' } }],
])('%j is refused', (input) => expect(RegistrarConfig.safeParse(input).success).toBe(false))

test.each(['', 'short', 'two keys\n0123456789', '0123456789\n0123456789'])('rejects a key file with %j', (text) => {
  const path = file(text)
  expect(() => readOptions({ namesilo: { api_key_file: path } })).toThrow(
    expect.objectContaining({ code: 'config/invalid', message: expect.not.stringContaining('0123456789') }),
  )
})

test('names a missing file', () => {
  expect(() => readOptions({ namesilo: { api_key_file: '/nowhere/key' } })).toThrow(
    '`domains.registrar.namesilo.api_key_file` names /nowhere/key, which cannot be read.',
  )
})

test('rejects a key file that other users can read', () => {
  const path = file('0123456789abcdef\n')
  chmodSync(path, 0o644)
  expect(() => readOptions({ namesilo: { api_key_file: path } })).toThrow(/can be read by other users. Run `chmod 600`/)
})
