import { afterAll, beforeAll, expect, test } from 'vitest'
import { runningService, type TestService } from '../support/runningService.ts'
import { evmWallet } from '../support/wallets.ts'

let service: TestService
beforeAll(async () => {
  service = await runningService({ host: 'none', signInDomains: ['conway.tech'] })
})
afterAll(() => service?.close())

test('a wallet signs in', async () => {
  const wallet = evmWallet()
  const answer = await wallet.signIn(service.url)
  expect(answer.json).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 3600,
  })
  const me = await service.send('/auth/me', { key: answer.json.access_token })
  expect(me.json).toMatchObject({ wallet_address: wallet.address, wallet_type: 'evm', role: 'user' })
  expect((await service.send('/v1/auth/me')).json).toMatchObject({
    wallet_address: null,
    role: 'owner',
    api_key: { name: 'Owner key' },
  })
})
