import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { installFolder } from '../platform/programFile.ts'
import type { Caller, Endpoint } from './endpoint.ts'
import { imageFetcher } from './inference/fetchedImages.ts'
import { gateway } from './inference/gateway.ts'
import { inferenceRoutes } from './inference/inferenceRoutes.ts'
import { type Ledger, ledgerCredits } from './inference/ledgerCredits.ts'
import { listedModels } from './inference/listedModels.ts'
import { type ConfiguredModel, type FamilyId, readModelCatalogue } from './inference/modelCatalogue.ts'
import { type ProviderOptions, providerSettings } from './inference/providerSettings.ts'
import { tokenCounter } from './inference/tokenCounter.ts'
import { upstreamPools } from './inference/upstreamPools.ts'
import type { ServiceGround } from './serviceGround.ts'

export type InferenceOptions = ProviderOptions & {
  /** Of families, beside those of the catalogue or with other values. */
  models: Readonly<Partial<Record<FamilyId, readonly ConfiguredModel[]>>>
}

export type InferenceParts = {
  endpoints: readonly Endpoint[]
  /** Undefined takes the key away. It is held in memory only. */
  setProviderKey(family: FamilyId, apiKey: string | undefined): void
}

/** The gateway to models. @throws AppError `config/invalid` where the catalogue, or what was configured, is wrong */
export function inferenceParts(
  { options, scope }: Pick<ServiceGround, 'options' | 'scope'>,
  { ledger, inference }: { ledger: Ledger; inference: InferenceOptions },
): InferenceParts {
  const log = options.log.of('inference')
  const catalogue = readModelCatalogue(join(installFolder, 'resources', 'models.json'), inference.models)
  const settings = providerSettings(catalogue, inference)
  const pools = scope.own(upstreamPools(), (it) => it.close())
  const { modelNamed, providerOf } = settings
  const answers = gateway<Caller>({
    modelNamed,
    providerOf,
    credits: ledgerCredits(ledger),
    pools,
    fetchImage: imageFetcher(),
    newId: () => randomBytes(12).toString('hex'),
    now: options.now,
    onFailure: (failure) => log.error('an answer could not be settled', { failure }),
  })
  return {
    endpoints: inferenceRoutes({
      gateway: answers,
      countTokens: tokenCounter({ modelNamed, providerOf, pools }),
      listed: listedModels({
        models: settings.models,
        families: catalogue.families,
        isAvailable: (model) => providerOf(model) !== undefined,
      }),
    }),
    setProviderKey: settings.setKey,
  }
}
