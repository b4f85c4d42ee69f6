import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createKeychainSecretStore } from '#platform/secrets/keychainSecretStore.ts'
import { verifySecretStore } from '#platform/secrets/verifySecretStore.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

/** Separate process, because a process remains connected to the first bus that it uses. */
process.env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${join(temporaryFolder('bus'), 'none')}`

test('reports a missing keychain without D-Bus', async () => {
  const store = createKeychainSecretStore({ scopeName: 'none', platform: 'linux' })
  const missing = {
    code: 'wallet/keychain-unavailable',
    message: expect.stringContaining('No Secret Service is available'),
  }
  await expect(store.read('one')).rejects.toMatchObject(missing)
  await expect(store.write('one', 'value')).rejects.toMatchObject(missing)
  await expect(store.remove('one')).rejects.toMatchObject(missing)
  expect(await verifySecretStore(store)).toMatchObject(missing)
  expect(await store.fault()).toBe('No Secret Service is available: this session has no D-Bus.')
})
