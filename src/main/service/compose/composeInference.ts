import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { installFolder } from '#platform/program/programFile.ts'
import type { FamilyId } from '#shared/contract/families.ts'
import { createModelUse } from '../activity/modelUse.ts'
import type { Caller, Endpoint } from '../base/endpoint.ts'
import type { CreditReservations } from '../credits/creditReservations.ts'
import { createLedgerCredits } from '../inference/billing/ledgerCredits.ts'
import { createRecordedCredits } from '../inference/billing/recordedCredits.ts'
import { createImageFetcher } from '../inference/canonical/fetchedImages.ts'
import { createListedModels } from '../inference/catalogue/listedModels.ts'
import { readModelCatalogue } from '../inference/catalogue/modelCatalogue.ts'
import { createEmbeddingsGateway } from '../inference/embeddings/embeddingsGateway.ts'
import { createGateway } from '../inference/gateway.ts'
import { createInferenceRoutes } from '../inference/inferenceRoutes.ts'
import { createProviderLeases } from '../inference/providers/providerLeases.ts'
import { createProviderRoutes } from '../inference/providers/providerRoutes.ts'
import { createProviderSettings, type LocalServer } from '../inference/providers/providerSettings.ts'
import { createProviderTest } from '../inference/providers/providerTest.ts'
import { createUpstreamPools } from '../inference/providers/upstreamPools.ts'
import { createResponseItems } from '../inference/responseItems.ts'
import { createTokenCounter } from '../inference/tokenCounter.ts'
import type { ServiceContext } from './serviceContext.ts'

export type InferenceModule = {
  capabilities: readonly string[]
  endpoints: readonly Endpoint[]
  /**
   * Sets a key, which stays in memory; `undefined` removes it. Completions in progress with another key are aborted.
   */
  setProviderKey(family: FamilyId, apiKey: string | undefined): void
  /**
   * Sets all model servers of the user, in addition to the configured ones. Completions in progress on other servers
   * are aborted.
   */
  setLocalServers(servers: readonly LocalServer[]): void
  /** Stops or resumes completions. While stopped, every completion is refused, and those in progress are aborted. */
  setStopped(stopped: boolean): void
}

/** Composes the model gateway. @throws AppError `config/invalid` if the catalog or the configuration is invalid */
export function composeInference(
  { options, clock, activity, callers, events, scope }: ServiceContext,
  { reservations }: { reservations: CreditReservations },
): InferenceModule {
  const log = options.log.forArea('inference')
  const inference = options.inference ?? { families: {}, models: {}, local: [] }
  const catalogue = readModelCatalogue(join(installFolder, 'resources', 'models.json'), inference.models)
  const settings = createProviderSettings(catalogue, inference)
  const pools = scope.own(createUpstreamPools(), (it) => it.close())
  const { modelNamed, findProvider } = settings
  const leases = createProviderLeases({ findProvider })
  const use = scope.own(createModelUse(activity), (it) => it.close())
  const paid = {
    modelNamed,
    findProvider,
    credits: createRecordedCredits<Caller>(createLedgerCredits(reservations), {
      use,
      callers,
      isStopped: leases.isStopped,
    }),
    pools,
    leases,
    now: options.now,
    runningMs: clock.runningMs,
  }
  const answers = createGateway<Caller>({
    ...paid,
    fetchImage: createImageFetcher(),
    // Uses `randomUUID` because it pools random bits; other functions call the system each time.
    newId: () => randomUUID().replaceAll('-', '').slice(0, 24),
    onFailure: (error) => log.error('failed to settle a completion', { error }),
  })
  const test = scope.own(createProviderTest({ kinds: catalogue.kinds, findProvider }), (it) => it.close())
  const publishChange = () => events.publishToAll({ type: 'models.changed' })
  return {
    capabilities: ['models'],
    endpoints: callers.bindEndpoints([
      ...createInferenceRoutes({
        gateway: answers,
        embed: createEmbeddingsGateway<Caller>(paid),
        countTokens: createTokenCounter({ modelNamed, findProvider, pools }),
        items: createResponseItems({ now: clock.runningMs }),
        listed: createListedModels({
          models: settings.models,
          isAvailable: (model) => findProvider(model) !== undefined,
        }),
      }),
      ...createProviderRoutes(test),
    ]),
    setProviderKey(family, apiKey) {
      settings.setKey(family, apiKey)
      leases.compare()
      publishChange()
    },
    setStopped: leases.setStopped,
    setLocalServers(servers) {
      const refused = settings.setLocal(servers)
      leases.compare()
      if (refused.length > 0) log.warn('skipped models with duplicate names', { refused })
      publishChange()
    },
  }
}
