import { randomBytes } from 'node:crypto'
import { httpServer } from '../../../src/main/platform/http/httpServer.ts'
import { credentialOf } from '../../../src/main/platform/http/requestCredential.ts'
import { requestPipeline } from '../../../src/main/platform/http/requestPipeline.ts'
import { silentLog } from '../../../src/main/platform/log.ts'
import type { AnyCall, Caller, Endpoint } from '../../../src/main/service/endpoint.ts'
import { gateway } from '../../../src/main/service/inference/gateway.ts'
import { inferenceRoutes } from '../../../src/main/service/inference/inferenceRoutes.ts'
import { listedModels } from '../../../src/main/service/inference/listedModels.ts'
import { type CatalogueModel, readModelCatalogue } from '../../../src/main/service/inference/modelCatalogue.ts'
import { tokenCounter } from '../../../src/main/service/inference/tokenCounter.ts'
import { upstreamPools } from '../../../src/main/service/inference/upstreamPools.ts'
import { AppError } from '../../../src/shared/appError.ts'
import { catalogueFile, memoryPurse } from './gatewayWorld.ts'
import { providerServer } from './providerServer.ts'

/** The routes of the gateway in the pipeline of the service, before strict fakes: for clients that others wrote. */
export async function gatewayServer() {
  const providers = await providerServer()
  const pools = upstreamPools({ connect: 2_000, firstByte: 30_000, idle: 30_000, retry: 1 })
  const { models, families } = readModelCatalogue(catalogueFile.pathname)
  const purse = memoryPurse()
  const modelNamed = (name: string) => models.get(name)
  const providerOf = (model: CatalogueModel) => (purse.unconfigured ? undefined : providers.providerOf(model.place))
  const endpoints = inferenceRoutes({
    gateway: gateway<Caller>({
      modelNamed,
      providerOf,
      credits: { reserve: (asked) => purse.credits.reserve({ ...asked, caller: 'ada' }) },
      pools,
      fetchImage: () => Promise.reject(new Error('No image was expected.')),
      newId: () => randomBytes(12).toString('hex'),
      now: Date.now,
      onFailure: (failure) => {
        throw failure
      },
    }),
    countTokens: tokenCounter({ modelNamed, providerOf, pools }),
    listed: listedModels({
      models: () => models.values(),
      families,
      isAvailable: (model) => providerOf(model) !== undefined,
    }),
  })
  const closing = new AbortController()
  const server: ReturnType<typeof httpServer> = httpServer({
    tls: undefined,
    headers: {},
    closing: closing.signal,
    answer: requestPipeline<Endpoint, Caller, AnyCall>({
      endpoints,
      socketPaths: [],
      pages: [],
      guard: () => {},
      who(_, { request }) {
        if (credentialOf(request.headers) === gatewayKey) return ada
        throw new AppError('auth/invalid', 'The API key is not valid.')
      },
      callOf: (caller, call) => Object.assign(call, { caller, host: '', holder: () => caller, count: () => {} }),
      toFailure: (failure, request) => server.toFailure(failure, request),
    }),
    upgrade: () => {
      throw new AppError('request/not-found', 'There is no WebSocket here.')
    },
    log: silentLog,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    url: `http://127.0.0.1:${port}`,
    providers,
    purse,
    clear(): void {
      providers.clear()
      purse.clear()
    },
    async close(): Promise<void> {
      closing.abort()
      await server.close(0)
      await pools.close()
      await providers.close()
    },
  }
}

export const gatewayKey = 'sk_steward_test'
const ada: Caller = {
  accountId: 'acc_ada' as Caller['accountId'],
  owner: true,
  managesAccount: true,
  onlySandbox: undefined,
  keyId: undefined,
  wallet: undefined,
}
