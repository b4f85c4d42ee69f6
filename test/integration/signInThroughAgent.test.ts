import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { exchange } from '../support/processes/runningService.ts'
import { startSteward } from '../support/processes/steward.ts'

test('a wallet signs in at the application address even after its service restarts', async () => {
  const steward = await startSteward()
  onTestFinished(() => steward.close())
  const { origin } = new URL(steward.url)
  const wallet = evmWallet()
  const linked = await exchange(origin, '/v1/auth/wallets', {
    key: steward.ownerKey,
    body: await wallet.signedMessage(origin),
  })
  expect(linked).toMatchObject({ status: 201, json: { wallet_address: wallet.address } })
  expect(await wallet.signIn(origin)).toMatchObject({ status: 200, json: { token_type: 'Bearer' } })

  await exchange(origin, '/v1/runtimes', { key: steward.ownerKey }) // responded by the host, which is then running
  process.kill(steward.pids().service, 'SIGKILL')
  await eventually(async () => {
    expect(await wallet.signIn(origin)).toMatchObject({ status: 200 })
  })
})
