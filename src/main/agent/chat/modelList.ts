import { AppError } from '#shared/appError.ts'
import { isChatModel, type ListedModel, listModels } from '#shared/contract/inference.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'

/** Cached chat models of the service, with prices. */
export type ModelList = {
  /** @throws AppError `chat/model` for an unknown model name, `service/unavailable` */
  requireModels(names: readonly string[]): Promise<ListedModel[]>
  find(name: string): Promise<ListedModel | undefined>
  /** Invalidates the list after prices or keys changed. */
  forget(): void
}

/** Maximum age of the cached price list. */
const freshMs = 15_000

export function createModelList({
  client,
  now,
}: {
  client: Pick<ServiceClient, 'call'>
  now: () => number
}): ModelList {
  let cached: { models: Map<string, ListedModel>; atMs: number } | undefined
  let pendingList: Promise<Map<string, ListedModel>> | undefined

  const fetchList = (): Promise<Map<string, ListedModel>> => {
    const response = client
      .call(listModels, {})
      .then(({ data }) => new Map(data.filter(isChatModel).map((item) => [item.id, item])))
    const isLatest = () => pendingList === response
    response.then(
      (models) => {
        if (!isLatest()) return
        cached = { models, atMs: now() }
        pendingList = undefined
      },
      () => {
        if (isLatest()) pendingList = undefined
      },
    )
    return response
  }
  const models = (): Promise<Map<string, ListedModel>> => {
    if (cached && now() - cached.atMs < freshMs) return Promise.resolve(cached.models)
    pendingList ??= fetchList()
    return pendingList
  }
  const find = async (name: string): Promise<ListedModel | undefined> => (await models()).get(name)

  return {
    find,
    requireModels: (names) =>
      Promise.all(
        names.map(async (name) => {
          const model = await find(name)
          if (model) return model
          throw new AppError('chat/model', `Unknown chat model ${JSON.stringify(name)}.`)
        }),
      ),
    forget() {
      cached = undefined
      pendingList = undefined
    },
  }
}
