import { parseJson } from '#platform/parsing/boundedJson.ts'
import type { AccountId } from '#shared/ids.ts'
import { createBadRequestError, type InferenceError } from './inferenceError.ts'
import { getString, type JsonObject, toJsonObject } from './json.ts'

/** Output items of one account's responses, for requests that refer to them by id. */
export type AccountItems = {
  /**
   * Replaces each `item_reference` of `input` by its item.
   *
   * @throws InferenceError 400 for an id that is unknown or has expired
   */
  resolve(body: JsonObject): JsonObject
  /** Stores the output items of a response, except for items above 1 MiB. */
  store(output: readonly unknown[]): void
}

export type ResponseItems = { forAccount(account: AccountId): AccountItems }

type Limits = {
  /** Maximum bytes of the items of one account. */
  maxAccountBytes: number
  /** Maximum bytes of the items of all accounts. */
  maxBytes: number
  /** Time to live of an item, in milliseconds. */
  ttlMs: number
}

type Item = { json: string; expiresAtMs: number }
type Account = { items: Map<string, Item>; bytes: number }

const defaultLimits: Limits = { maxAccountBytes: 8 << 20, maxBytes: 64 << 20, ttlMs: 3_600_000 }
const maxItemBytes = 1 << 20

/**
 * Stores output items of Responses in memory, for clients that omit `store` and then send `{"type": "item_reference"}`,
 * such as the AI SDK. The oldest items of the largest account are removed first.
 * @see https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
 */
export function createResponseItems(options: { now: () => number; limits?: Partial<Limits> }): ResponseItems {
  const { now } = options
  const { maxAccountBytes, maxBytes, ttlMs } = { ...defaultLimits, ...options.limits }
  const accounts = new Map<AccountId, Account>()
  let totalBytes = 0

  const remove = (account: Account, id: string, item: Item): void => {
    account.items.delete(id)
    account.bytes -= item.json.length
    totalBytes -= item.json.length
  }
  const removeOldest = (account: Account): void => {
    for (const [id, item] of account.items) {
      remove(account, id, item)
      return
    }
  }
  const removeExpired = (): void => {
    for (const [id, account] of accounts) {
      for (const [itemId, item] of account.items) {
        if (item.expiresAtMs > now()) break
        remove(account, itemId, item)
      }
      if (account.items.size === 0) accounts.delete(id)
    }
  }
  const largest = (): Account | undefined => {
    let match: Account | undefined
    for (const account of accounts.values()) if (account.bytes > (match?.bytes ?? 0)) match = account
    return match
  }

  return {
    forAccount: (accountId) => ({
      resolve(body) {
        if (!Array.isArray(body.input)) return body
        let bytes = 0
        let isChanged = false
        const input = body.input.map((entry: unknown, index): unknown => {
          const id = findReference(entry)
          if (id === undefined) return entry
          const item = accounts.get(accountId)?.items.get(id)
          if (!item || item.expiresAtMs <= now()) throw createUnknownItemError(`input[${index}]`)
          bytes += item.json.length
          if (bytes > maxAccountBytes)
            throw createBadRequestError(`input[${index}]`, 'The referenced items are too large.')
          isChanged = true
          return parseJson(item.json)
        })
        return isChanged ? { ...body, input } : body
      },
      store(output) {
        removeExpired()
        for (const entry of output) {
          const id = getString(entry, 'id')
          const json = JSON.stringify(entry)
          if (id === undefined || id === '' || json.length > maxItemBytes) continue
          const account = accounts.get(accountId) ?? { items: new Map<string, Item>(), bytes: 0 }
          accounts.set(accountId, account)
          const former = account.items.get(id)
          if (former) remove(account, id, former)
          account.items.set(id, { json, expiresAtMs: now() + ttlMs })
          account.bytes += json.length
          totalBytes += json.length
          while (account.bytes > maxAccountBytes) removeOldest(account)
          for (let full = largest(); totalBytes > maxBytes && full; full = largest()) removeOldest(full)
        }
      },
    }),
  }
}

/** OpenAI makes `type` optional here: an object with an id but neither type nor role is also a reference. */
function findReference(entry: unknown): string | undefined {
  const item = toJsonObject(entry)
  if (!item) return undefined
  const isReference = item.type === 'item_reference' || (item.type == null && item.role == null)
  return isReference ? getString(item, 'id') : undefined
}

export function createUnknownItemError(param: string): InferenceError {
  const message =
    'Unknown item id. Items are stored for one hour, in memory, unless `store` is false. Send the item itself instead of its id (in the AI SDK: `providerOptions: { openai: { store: false } }`).'
  return createBadRequestError(param, message, 'unsupported')
}
