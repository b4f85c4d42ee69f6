import { expect, onTestFinished, test } from 'vitest'
import type { PrincipalId } from '#platform/access/principals.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { maxSignInIds } from '#shared/contract/auth.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { createEmitter } from '#shared/emitter.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import type { ReferenceHolder } from '../base/removedThings.ts'
import { createClientPresence, signInRequesterId } from './clientPresence.ts'

const address = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
const signIn = signInRequesterId(address)

/** Creates the presence of API keys and linked wallets at a service that the test can change. */
function openPresence() {
  const account = {
    ...{ keys: ['key_1', 'key_2'], wallets: [address], isAway: false },
    /** Active sign-ins, or undefined for a service of an earlier version. */
    signIns: ['fam_1', 'fam_2'] as string[] | undefined,
  }
  const ended: PrincipalId[] = []
  const events = createEmitter<LocalEvent>()
  const holders: ReferenceHolder[] = []
  let requestCount = 0
  let answering = Promise.resolve()
  const presence = createClientPresence({
    ...{ link: { subscribe: events.subscribe }, log: silentLog },
    removed: {
      subscribe(holder) {
        holders.push(holder)
        return () => {}
      },
    },
    principals: { end: (principal) => ended.push(principal) },
    client: {
      async call(route, input) {
        requestCount += 1
        const { sign_in_ids: signInIds } = input as { sign_in_ids?: string }
        const active = signInIds?.split(',').filter((id) => account.signIns?.includes(id))
        const answer =
          route.operation === listApiKeys.operation
            ? { api_keys: account.keys.map((id) => ({ id })) }
            : {
                id: 'acct_1',
                wallets: account.wallets.map((wallet_address) => ({ wallet_address })),
                ...(account.signIns && active && { active_sign_in_ids: active }),
              }
        await answering
        if (account.isAway) throw new AppError('service/unavailable', 'The service is unavailable.')
        return answer as never
      },
    },
  })
  onTestFinished(presence.close)
  return {
    ...{ account, presence, ended, holders, emit: events.emit },
    asked: () => requestCount,
    /** Delays the next responses until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      answering = promise
      return resolve
    },
  }
}

test('a key or wallet removed from the account ends on each connect', async () => {
  const { account, presence, ended, emit } = openPresence()
  for (const principal of ['key:key_1', 'key:key_2', signIn] as const) expect(presence.getRights(principal)).toEqual({})
  await presence.refresh()
  expect(ended).toEqual([])
  account.keys = ['key_2']
  account.wallets = []
  emit({ type: 'ready' })
  await eventually(() => expect(ended).toEqual(['key:key_1', signIn]))
  expect(presence.getRights('key:key_1')).toBeUndefined()
  expect(presence.getRights('key:key_2')).toEqual({})
})

test('a key newer than the response does not end', async () => {
  const { presence, ended, hold } = openPresence()
  presence.getRights('key:key_1')
  const release = hold()
  const refreshed = presence.refresh()
  presence.getRights('key:key_3')
  release()
  await refreshed
  expect([ended, presence.getRights('key:key_3')]).toEqual([[], {}])
})

test('an outbox entry of the service ends a key immediately', () => {
  const { presence, ended, holders } = openPresence()
  presence.getRights('key:key_1')
  expect(holders.map(({ kind }) => kind)).toEqual(['key'])
  holders[0]?.onRemoved({ kind: 'key', id: 'key_1', name: 'Build agent' })
  expect([ended, presence.getRights('key:key_1')]).toEqual([['key:key_1'], undefined])
})

test('ends nothing while the service is unavailable and compares only known principals', async () => {
  const { account, presence, ended, asked: requestCount } = openPresence()
  await presence.refresh()
  expect(requestCount()).toBe(0)
  presence.getRights('key:key_9')
  account.isAway = true
  await presence.refresh()
  expect([ended, presence.getRights('key:key_9')]).toEqual([[], {}])
  account.isAway = false
  await presence.refresh()
  expect(ended).toEqual(['key:key_9'])
})

test('a wallet that is linked again may sign in again', async () => {
  const { account, presence, ended } = openPresence()
  presence.getRights(signIn)
  account.wallets = []
  await presence.refresh()
  expect([ended, presence.getRights(signIn)]).toEqual([[signIn], undefined])
  account.wallets = [address]
  await presence.refresh()
  expect(presence.getRights(signIn)).toEqual({})
})

test('an ended sign-in does not affect others and is never restored', async () => {
  const { account, presence, ended } = openPresence()
  for (const id of ['fam_1', 'fam_2'] as const) expect(presence.getRights(`${signIn}/${id}`)).toEqual({})
  account.signIns = ['fam_2']
  await presence.refresh()
  expect(ended).toEqual([`${signIn}/fam_1`])
  account.signIns = ['fam_1', 'fam_2']
  await presence.refresh()
  expect(presence.getRights(`${signIn}/fam_2`)).toEqual({})
  account.wallets = []
  await presence.refresh()
  expect(ended).toEqual([`${signIn}/fam_1`, `${signIn}/fam_2`])
})

test('sign-ins of an earlier service end with their wallet', async () => {
  const { account, presence, ended } = openPresence()
  account.signIns = undefined
  presence.getRights(`${signIn}/fam_1`)
  await presence.refresh()
  expect(ended).toEqual([])
  account.wallets = []
  await presence.refresh()
  expect(ended).toEqual([`${signIn}/fam_1`])
})

test('compares sign-ins above the request limit in several requests', async () => {
  const { account, presence, ended } = openPresence()
  const ids = Array.from({ length: maxSignInIds + 1 }, (_, index) => `fam_${index}`)
  for (const id of ids) presence.getRights(`${signIn}/${id}`)
  account.signIns = ids.slice(1, -1)
  await presence.refresh()
  expect(ended).toEqual([`${signIn}/fam_0`, `${signIn}/fam_${maxSignInIds}`])
})
