import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { installFolder } from '#platform/programFile.ts'
import type { FamilyId } from '#shared/contract/families.ts'
import { createModelUse } from '../activity/modelUse.ts'
import type { Caller, Endpoint } from '../base/endpoint.ts'
import type { CreditReservations } from '../credits/creditReservations.ts'
import { createEmbeddingsGateway } from '../inference/embeddings/embeddingsGateway.ts'
import { imageFetcher } from '../inference/fetchedImages.ts'
import { gateway } from '../inference/gateway.ts'
import { inferenceRoutes } from '../inference/inferenceRoutes.ts'
import { ledgerCredits } from '../inference/ledgerCredits.ts'
import { listedModels } from '../inference/listedModels.ts'
import { readModelCatalogue } from '../inference/modelCatalogue.ts'
import { createProviderLeases } from '../inference/providerLeases.ts'
import { providerRoutes } from '../inference/providerRoutes.ts'
import { type LocalServer, providerSettings } from '../inference/providerSettings.ts'
import { providerTest } from '../inference/providerTest.ts'
import { recordedCredits } from '../inference/recordedCredits.ts'
import { createResponseItems } from '../inference/responseItems.ts'
import { tokenCounter } from '../inference/tokenCounter.ts'
import { upstreamPools } from '../inference/upstreamPools.ts'
import type { ServiceGround } from './serviceGround.ts'

export type InferenceParts = {
  /** Named in /health. */
  capabilities: readonly string[]
  endpoints: readonly Endpoint[]
  /** Sets a key, held in memory only; `undefined` removes it. Completions with another key end. */
  setProviderKey(family: FamilyId, apiKey: string | undefined): void
  /** All model servers of the user, beside those of the configuration. Completions of others end. */
  setLocalServers(servers: readonly LocalServer[]): void
  /** While stopped, every completion is refused. Those under way end. */
  setStopped(stopped: boolean): void
}

/** The gateway to models. @throws AppError `config/invalid` where the catalogue, or what was configured, is wrong */
export function inferenceParts(
  { options, clock, activity, callers, events, scope }: ServiceGround,
  { reservations }: { reservations: CreditReservations },
): InferenceParts {
  const log = options.log.of('inference')
  const inference = options.inference ?? { families: {}, models: {}, local: [] }
  const catalogue = readModelCatalogue(join(installFolder, 'resources', 'models.json'), inference.models)
  const settings = providerSettings(catalogue, inference)
  const pools = scope.own(upstreamPools(), (it) => it.close())
  const { modelNamed, providerOf } = settings
  const leases = createProviderLeases({ providerOf })
  const use = scope.own(createModelUse(activity), (it) => it.close())
  const paid = {
    modelNamed,
    providerOf,
    credits: recordedCredits<Caller>(ledgerCredits(reservations), { use, callers, isStopped: leases.isStopped }),
    pools,
    leases,
    now: options.now,
    runningMs: clock.runningMs,
  }
  const answers = gateway<Caller>({
    ...paid,
    fetchImage: imageFetcher(),
    // Its random bits come from a store, which asking the system for each would not.
    newId: () => randomUUID().replaceAll('-', '').slice(0, 24),
    onFailure: (failure) => log.error('an answer could not be settled', { failure }),
  })
  const test = scope.own(providerTest({ kinds: catalogue.kinds, providerOf }), (it) => it.close())
  const changed = () => events.publishToAll({ type: 'models.changed' })
  return {
    capabilities: ['models'],
    endpoints: callers.known([
      ...inferenceRoutes({
        gateway: answers,
        embed: createEmbeddingsGateway<Caller>(paid),
        countTokens: tokenCounter({ modelNamed, providerOf, pools }),
        items: createResponseItems({ now: clock.runningMs }),
        listed: listedModels({
          models: settings.models,
          isAvailable: (model) => providerOf(model) !== undefined,
        }),
      }),
      ...providerRoutes(test),
    ]),
    setProviderKey(family, apiKey) {
      settings.setKey(family, apiKey)
      leases.compare()
      changed()
    },
    setStopped: leases.setStopped,
    setLocalServers(servers) {
      const refused = settings.setLocal(servers)
      leases.compare()
      if (refused.length > 0) log.warn('names of models are taken', { refused })
      changed()
    },
  }
}
