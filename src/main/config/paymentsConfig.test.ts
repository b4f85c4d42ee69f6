import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { PaymentsConfig, readPaymentOptions } from './paymentsConfig.ts'

const folder = temporaryFolder('payments-config')
let files = 0
const s3cret = 'a1'.repeat(32)
function writeFile(text: string, mode = 0o600): string {
  const file = join(folder, `key-${++files}`)
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}
const options = (facilitator: object) =>
  readPaymentOptions(PaymentsConfig.parse({ network: 'base', pay_to: `0x${'2'.repeat(40)}`, facilitator }), false)
const catchError = (facilitator: object): string => {
  try {
    options(facilitator)
  } catch (error) {
    return String(error)
  }
  return expect.fail('It was taken.')
}

describe('the relayer key', () => {
  const chain = (file: string) => ({ rpc_url: 'https://rpc.example.com', relayer_key_file: file })

  test.each([s3cret, `0x${s3cret.toUpperCase()}\n`])('is read from a file private to the user', (text) => {
    expect(options(chain(writeFile(text)))?.facilitator).toMatchObject({ kind: 'chain', relayerKey: `0x${s3cret}` })
  })

  test.each([
    ['others can read it', () => writeFile(s3cret, 0o644), /can be read by other users. Run `chmod 600`/],
    [
      'it is a link',
      () => {
        const link = join(folder, 'link')
        symlinkSync(writeFile(s3cret), link)
        return link
      },
      /is a symbolic link/,
    ],
    ['it is missing', () => join(folder, 'none'), /cannot be read/],
    ['it is no key', () => writeFile(`${s3cret}00`), /does not contain a private key/],
  ])('is rejected when %s, without revealing it', (_, make, message) => {
    const error = catchError(chain(make()))
    expect(error).toMatch(message)
    expect(error).not.toContain(s3cret)
  })
})

describe('the Coinbase API key', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const pem = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
  const url = 'https://api.cdp.coinbase.com/platform/v2/x402'

  test.each([
    ['as it is given now', { id: 'key-1', privateKey: pem }],
    ['as it was given before', { name: 'key-1', privateKey: pem }],
  ])('is read %s', (_, file) => {
    const facilitator = options({ url, cdp_key_file: writeFile(JSON.stringify(file)) })?.facilitator
    expect(facilitator).toMatchObject({ kind: 'remote', url, cdpKey: { id: 'key-1', algorithm: 'ES256' } })
  })

  test('is sent over TLS only', () => {
    const file = writeFile(JSON.stringify({ id: 'key-1', privateKey: pem }))
    expect(catchError({ url: 'http://facilitator.example.com', cdp_key_file: file })).toMatch(/https:\/\//)
  })

  test.each([
    ['no JSON', pem],
    ['JSON of something else', '{"key":"s3cret"}'],
    ['no key', '{"id":"key-1","privateKey":"s3cret"}'],
  ])('is rejected from %s, without revealing it', (_, text) => {
    const error = catchError({ url, cdp_key_file: writeFile(text) })
    expect(error).toContain('cdp_key_file')
    expect(error).not.toMatch(/s3cret|PRIVATE/)
  })
})
