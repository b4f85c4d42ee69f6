import { readFileSync } from 'node:fs'
import type { CatalogueModel } from '#service/inference/catalogueModel.ts'
import { chatDialect } from '#service/inference/dialects/chatDialect.ts'
import type { DialectName } from '#service/inference/dialects/dialect.ts'
import { messagesDialect } from '#service/inference/dialects/messagesDialect.ts'
import { responsesDialect } from '#service/inference/dialects/responsesDialect.ts'
import type { ImageFetcher } from '#service/inference/fetchedImages.ts'
import { gateway } from '#service/inference/gateway.ts'
import type { Charge, InferenceCredits } from '#service/inference/inferenceCredits.ts'
import { InferenceError } from '#service/inference/inferenceError.ts'
import { localModel, modelCatalogue } from '#service/inference/modelCatalogue.ts'
import { upstreamPools } from '#service/inference/upstreamPools.ts'
import { foldedChat, foldedMessages, foldedResponses } from './foldedStreams.ts'
import { providerServer } from './providerServer.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of the wire, whose form is what the tests look at
type Wire = any

export const catalogueFile = new URL('../../../resources/models.json', import.meta.url)
export const dialects = { chat: chatDialect, messages: messagesDialect, responses: responsesDialect }
const folded = { chat: foldedChat, messages: foldedMessages, responses: foldedResponses }

export type Asked = { dialect: DialectName; model: string; stream: boolean }
export type Answered = {
  /** The JSON, or what a client makes of the stream. */
  body: Wire
  /** Of a stream, as it came. */
  text: string
  headers: Record<string, string>
}
export type Refused = { status: number; body: Wire; error: InferenceError }

export type GatewayWorld = Awaited<ReturnType<typeof gatewayWorld>>

/** The gateway before strict fakes of its providers, with a purse in the place of the ledger. */
export async function gatewayWorld({
  fetchImage,
  extra = [],
}: {
  fetchImage?: ImageFetcher
  extra?: CatalogueModel[]
} = {}) {
  const providers = await providerServer()
  const pools = upstreamPools({ connect: 2_000, firstByte: 20_000, idle: 20_000, retry: 1 })
  const catalogue = modelCatalogue(JSON.parse(readFileSync(catalogueFile, 'utf8')))
  const models = new Map(catalogue.models)
  models.set('shed-model', localModel('shed', { name: 'shed-model' }))
  for (const model of extra) models.set(model.name, model)
  const purse = memoryPurse()
  let ids = 0
  const answers = gateway({
    modelNamed: (name) => models.get(name),
    providerOf: (model) => (purse.unconfigured ? undefined : providers.providerOf(model.place)),
    credits: purse.credits,
    pools,
    leases: { begin: () => () => {} },
    fetchImage: fetchImage ?? (() => Promise.reject(new Error('No image was expected.'))),
    newId: () => (ids++).toString(16).padStart(24, '0'),
    now: () => 1_700_000_000_000,
    onFailure: (failure) => {
      throw failure
    },
  })

  async function frames(asked: Asked, body: Wire, signal = new AbortController().signal) {
    const dialect = dialects[asked.dialect]
    const usage = asked.dialect === 'chat' && asked.stream ? { stream_options: { include_usage: true } } : {}
    const whole = { model: asked.model, ...(asked.stream && { stream: true }), ...usage, ...body }
    return await answers.answer({ dialect, body: whole, caller: 'ada', signal, abort: () => {} })
  }

  async function ask(asked: Asked, body: Wire): Promise<Answered> {
    const answer = await frames(asked, body)
    const headers = { ...answer.headers }
    if (answer.kind === 'json') return { body: JSON.parse(JSON.stringify(answer.body)), text: '', headers }
    let text = ''
    for await (const frame of answer.frames) text += frame
    const failed = /"error":\{|event: error/.test(text)
    return { body: failed ? undefined : folded[asked.dialect](text), text, headers }
  }

  /** @returns what the caller is told before anything is answered */
  async function refused(asked: Asked, body: Wire): Promise<Refused> {
    try {
      const answer = await ask(asked, body)
      throw new Error(`It was answered: ${JSON.stringify(answer)}`)
    } catch (failure) {
      if (!(failure instanceof InferenceError)) throw failure
      return { status: failure.status, body: dialects[asked.dialect].writeFailure(failure), error: failure }
    }
  }

  return {
    providers,
    purse,
    ask,
    frames,
    refused,
    /** The body of the last request that a provider got. */
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

/** Of one account. */
export function memoryPurse() {
  const charges: Charge[] = []
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
