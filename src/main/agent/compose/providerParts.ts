import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { keychainSecretStore } from '#platform/keychainSecretStore.ts'
import { vaultFileSecretStore } from '#platform/vaultFileSecretStore.ts'
import { FamilyId } from '#shared/contract/families.ts'
import { ModelServerId } from '#shared/contract/providers.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { type KeptKeys, keptKeys } from '../providers/keptKeys.ts'
import { modelServerProbe } from '../providers/modelServerProbe.ts'
import { modelServerRepository } from '../providers/modelServerRepository.ts'
import { modelServers, type OwnModelServers } from '../providers/modelServers.ts'
import { providerKeyRepository } from '../providers/providerKeyRepository.ts'
import { type ProviderKeys, providerKeys } from '../providers/providerKeys.ts'
import { providerRoutes } from '../providers/providerRoutes.ts'
import { sealedKeys } from '../providers/sealedKeys.ts'
import { walletPlaces } from '../wallet/walletPlaces.ts'
import type { AgentGround } from './agentGround.ts'

export type ProviderParts = { kept: KeptKeys; keys: ProviderKeys; servers: OwnModelServers; endpoints: LocalEndpoint[] }

/** Keys of model providers and servers of one's own, as the service of this application gets them. */
export function providerParts(ground: AgentGround): ProviderParts {
  const { dataFolder, config, database, tellService, events, activity, scope, now } = ground
  const folder = join(dataFolder, 'providers')
  const { inference, wallet } = config
  const kept = keptKeys({
    sealed: sealedKeys({
      places: walletPlaces({
        folder,
        setting: wallet.secret_store,
        keychain: (scopeName) => keychainSecretStore({ scopeName, platform: process.platform }),
        vaultFile: (file) => vaultFileSecretStore({ file }),
      }),
      sealFile: join(folder, 'seal.key'),
    }),
    repository: providerKeyRepository(database),
    onRead(slot) {
      const family = FamilyId.safeParse(slot)
      if (family.success) keys.tell(family.data)
      else if (ModelServerId.safeParse(slot).success) servers.tell()
    },
    now,
  })
  const shared = { kept, tellService, events, note: activity.note, now }
  const keys = providerKeys({ ...shared, configured: inference.families })
  const { probe } = scope.own(modelServerProbe(), (it) => it.close())
  const servers = modelServers({
    ...shared,
    repository: modelServerRepository(database),
    probe,
    configured: inference.local.map(({ name }) => name),
    newId: () => randomBytes(12).toString('hex'),
  })
  servers.tell()
  void kept.readAgain() // the keychain may ask the person first; nothing else waits for it
  return { kept, keys, servers, endpoints: providerRoutes({ keys, servers, kept }) }
}
