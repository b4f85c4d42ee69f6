import { readFileSync } from 'node:fs'
import type { InferenceCharge, InferenceCredits } from '#service/inference/billing/inferenceCredits.ts'
import type { ImageFetcher } from '#service/inference/canonical/fetchedImages.ts'
import type { CatalogueModel } from '#service/inference/catalogue/catalogueModel.ts'
import { createModelCatalogue, toLocalModel } from '#service/inference/catalogue/modelCatalogue.ts'
import { chatDialect } from '#service/inference/dialects/chatDialect.ts'
import type { DialectName } from '#service/inference/dialects/dialect.ts'
import { messagesDialect } from '#service/inference/dialects/messagesDialect.ts'
import { responsesDialect } from '#service/inference/dialects/responsesDialect.ts'
import { createGateway } from '#service/inference/gateway.ts'
import { InferenceError } from '#service/inference/inferenceError.ts'
import { createUpstreamPools } from '#service/inference/providers/upstreamPools.ts'
import { foldChat, foldMessages, foldResponses } from './foldedStreams.ts'
import { createProviderServer } from './providerServer.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any

export const catalogueFile = new URL('../../../resources/models.json', import.meta.url)
export const dialects = { chat: chatDialect, messages: messagesDialect, responses: responsesDialect }
const folded = { chat: foldChat, messages: foldMessages, responses: foldResponses }

export type GatewayRequest = { dialect: DialectName; model: string; stream: boolean }
export type Answered = {
  /** JSON, or the folded stream. */
  body: Wire
  /** Text of the stream, verbatim. */
  text: string
  headers: Record<string, string>
}
export type Refused = { status: number; body: Wire; error: InferenceError }

export type GatewayWorld = Awaited<ReturnType<typeof createGatewayWorld>>

/** Creates the gateway in front of strict fake providers, with an in-memory purse instead of the ledger. */
export async function createGatewayWorld({
  fetchImage,
  extra = [],
}: {
  fetchImage?: ImageFetcher
  extra?: CatalogueModel[]
} = {}) {
  const providers = await createProviderServer()
  const pools = createUpstreamPools({ connect: 2_000, firstByte: 20_000, idle: 20_000, retry: 1 })
  const catalogue = createModelCatalogue(JSON.parse(readFileSync(catalogueFile, 'utf8')))
  const models = new Map(catalogue.models)
  models.set('shed-model', toLocalModel('shed', { name: 'shed-model' }))
  for (const model of extra) models.set(model.name, model)
  const purse = memoryPurse()
  let ids = 0
  const answers = createGateway({
    modelNamed: (name) => models.get(name),
    findProvider: (model) => (purse.unconfigured ? undefined : providers.providerOf(model.providerId)),
    credits: purse.credits,
    pools,
    leases: { begin: () => () => {} },
    fetchImage: fetchImage ?? (() => Promise.reject(new Error('No image was expected.'))),
    newId: () => (ids++).toString(16).padStart(24, '0'),
    now: () => 1_700_000_000_000,
    onFailure: (error) => {
      throw error
    },
  })

  async function frames(gatewayRequest: GatewayRequest, body: Wire, signal = new AbortController().signal) {
    const dialect = dialects[gatewayRequest.dialect]
    const usage =
      gatewayRequest.dialect === 'chat' && gatewayRequest.stream ? { stream_options: { include_usage: true } } : {}
    const whole = { model: gatewayRequest.model, ...(gatewayRequest.stream && { stream: true }), ...usage, ...body }
    return await answers.answer({ dialect, body: whole, caller: 'ada', signal, abort: () => {} })
  }

  async function ask(gatewayRequest: GatewayRequest, body: Wire): Promise<Answered> {
    const answer = await frames(gatewayRequest, body)
    const headers = { ...answer.headers }
    if (answer.kind === 'json') return { body: JSON.parse(JSON.stringify(answer.body)), text: '', headers }
    let text = ''
    for await (const frame of answer.frames) text += frame
    const failed = /"error":\{|event: error/.test(text)
    return { body: failed ? undefined : folded[gatewayRequest.dialect](text), text, headers }
  }

  /** @returns the error that was thrown before any output */
  async function expectRefusal(gatewayRequest: GatewayRequest, body: Wire): Promise<Refused> {
    try {
      const answer = await ask(gatewayRequest, body)
      throw new Error(`It was answered: ${JSON.stringify(answer)}`)
    } catch (error) {
      if (!(error instanceof InferenceError)) throw error
      return { status: error.status, body: dialects[gatewayRequest.dialect].writeFailure(error), error }
    }
  }

  return {
    providers,
    purse,
    ask,
    frames,
    refused: expectRefusal,
    /** Returns the body of the last request that a provider received. */
    sent: (): Wire => providers.requests.at(-1)?.body,
    clear(): void {
      providers.clear()
      purse.clear()
    },
    async close(): Promise<void> {
      await pools.close()
      await providers.close()
    },
  }
}

/** Creates an in-memory balance of one account. */
export function memoryPurse() {
  const charges: InferenceCharge[] = []
  const state = { balance: 10_000_000, held: 0, unconfigured: false }
  const credits: InferenceCredits<string> = {
    reserve({ plan }) {
      const plannedHold = plan(state.balance - state.held)
      if (!plannedHold) throw new InferenceError('credits', 'Insufficient credits')
      state.held += plannedHold.amountMicroUsd
      let ended = false
      const end = () => {
        if (ended) throw new Error('The hold ended twice.')
        ended = true
        state.held -= plannedHold.amountMicroUsd
      }
      return {
        maxOutputTokens: plannedHold.maxOutputTokens,
        settle(charge) {
          end()
          state.balance -= charge.amountMicroUsd
          charges.push(charge)
          return charge.amountMicroUsd
        },
        release: end,
      }
    },
  }
  return {
    credits,
    charges,
    get balance() {
      return state.balance
    },
    set balance(microUsd: number) {
      state.balance = microUsd
    },
    get held() {
      return state.held
    },
    get unconfigured() {
      return state.unconfigured
    },
    set unconfigured(value: boolean) {
      state.unconfigured = value
    },
    clear(): void {
      charges.length = 0
      Object.assign(state, { balance: 10_000_000, held: 0, unconfigured: false })
    },
  }
}
