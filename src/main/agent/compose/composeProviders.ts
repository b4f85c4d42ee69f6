import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createSecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { FamilyId } from '#shared/contract/families.ts'
import { ModelServerId } from '#shared/contract/providers.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createEncryptedKeyStore } from '../providers/encryptedKeyStore.ts'
import { createModelServerProbe } from '../providers/modelServerProbe.ts'
import { createModelServerRepository } from '../providers/modelServerRepository.ts'
import { createModelServers, type ModelServerStore } from '../providers/modelServers.ts'
import { createProviderKeyRepository } from '../providers/providerKeyRepository.ts'
import { createProviderKeyStore, type ProviderKeyStore } from '../providers/providerKeyStore.ts'
import { createProviderKeys, type ProviderKeys } from '../providers/providerKeys.ts'
import { createProviderRoutes } from '../providers/providerRoutes.ts'
import type { AgentContext } from './agentContext.ts'

export type ProviderModule = {
  keyStore: ProviderKeyStore
  keys: ProviderKeys
  servers: ModelServerStore
  endpoints: LocalEndpoint[]
}

/** Composes keys of model providers and custom model servers, in the form passed to the embedded service. */
export function composeProviders(context: AgentContext): ProviderModule {
  const { dataFolder, config, database, notifyService, events, activity, scope, now } = context
  const folder = join(dataFolder, 'providers')
  const { inference, wallet } = config
  const keyStore = createProviderKeyStore({
    sealed: createEncryptedKeyStore({
      locator: createSecretStoreLocator({ folder, setting: wallet.secret_store }),
      sealFile: join(folder, 'seal.key'),
    }),
    repository: createProviderKeyRepository(database),
    onRead(slot) {
      const family = FamilyId.safeParse(slot)
      if (family.success) keys.announce(family.data)
      else if (ModelServerId.safeParse(slot).success) servers.announce()
    },
    now,
  })
  const shared = { keyStore, notifyService: notifyService, events, recordActivity: activity.record, now }
  const keys = createProviderKeys({ ...shared, configured: inference.families })
  const { probe } = scope.own(createModelServerProbe(), (it) => it.close())
  const servers = createModelServers({
    ...shared,
    repository: createModelServerRepository(database),
    probe,
    configured: inference.local.map(({ name }) => name),
    newId: () => randomBytes(12).toString('hex'),
  })
  servers.announce()
  void keyStore.readAgain() // the keychain may prompt the user; startup does not wait for it
  return { keyStore, keys, servers, endpoints: createProviderRoutes({ keys, servers, keyStore }) }
}
