import { z } from 'zod'
import type { HttpClient } from '#platform/http/httpClient.ts'
import { requestRegistrar, sanitizeRegistrarText } from '../askRegistrar.ts'
import { RegistrarError } from '../registrar.ts'

export type NameSiloReply = { code: number; detail: string; [field: string]: unknown }
export type NameSiloCall = {
  params?: Readonly<Record<string, string | number>>
  changes?: boolean
  /** Reply codes that are treated as success for this operation. */
  also?: readonly number[]
  signal?: AbortSignal | undefined
}
export type NameSiloApi = {
  /** @throws RegistrarError */
  ask(operation: string, call?: NameSiloCall): Promise<NameSiloReply>
}

export const nameSiloTitle = 'NameSilo'

const Answer = z.object({ reply: z.looseObject({ code: z.coerce.number().int(), detail: z.unknown().optional() }) })

/** 301: with other name servers. 302: with the contact of the account. */
const success = [300, 301, 302]
/** Errors of the key, the account or its funds. Nothing was done. */
const accountErrorCodes = [109, 110, 111, 112, 113, 116, 117, 118, 119]
/** Errors of the registry or NameSilo. */
const registrarErrorCodes = [115, 201]
const unavailableCodes = [261, 262]

/**
 * Client of NameSilo's API, version 1, in JSON. The API accepts its key only in the URL, so URLs must not appear in
 * logs or errors.
 * @see https://www.namesilo.com/api-reference
 */
export function createNameSiloApi(options: { http: HttpClient; url: string; apiKey: string }): NameSiloApi {
  const { http, apiKey } = options
  const base = options.url.replace(/\/+$/, '')

  return {
    async ask(operation, { params = {}, changes = false, also = [], signal } = {}) {
      const query = new URLSearchParams({ version: '1', type: 'json', key: apiKey })
      for (const [name, value] of Object.entries(params)) query.set(name, String(value))
      const url = `${base}/${operation}?${query}`
      const { status, json } = await requestRegistrar(
        { http, title: nameSiloTitle },
        { url, method: 'GET', changes, signal },
      )
      const answer = Answer.safeParse(json)
      if (status === 429) throw new RegistrarError('unreachable', `${nameSiloTitle} rate limit exceeded.`)
      if (status !== 200 || !answer.success) throw createUnknownOutcomeError(changes, status)
      const { reply } = answer.data
      const detail = sanitizeRegistrarText(reply.detail, [apiKey, encodeURIComponent(apiKey)])
      if (success.includes(reply.code) || also.includes(reply.code)) return { ...reply, detail }
      throw toRegistrarError({ code: reply.code, detail }, changes)
    },
  }
}

function createUnknownOutcomeError(changes: boolean, status: number): RegistrarError {
  return new RegistrarError(changes ? 'unclear' : 'unreachable', `${nameSiloTitle} did not respond.`, {
    cause: new Error(`The response has status ${status} or is not a reply.`),
  })
}

function toRegistrarError({ code, detail }: { code: number; detail: string }, changes: boolean): RegistrarError {
  const cause = new Error(`Reply ${code}: ${detail}`)
  if (accountErrorCodes.includes(code)) {
    return new RegistrarError('unreachable', `${nameSiloTitle} rejected the account of this service.`, { cause })
  }
  if (registrarErrorCodes.includes(code)) {
    return new RegistrarError(changes ? 'unclear' : 'unreachable', `${nameSiloTitle} failed.`, { cause })
  }
  const said = detail === '' ? `code ${code}` : detail
  return new RegistrarError(
    unavailableCodes.includes(code) ? 'taken' : 'refused',
    `${nameSiloTitle} refused: ${said}`,
    {
      cause,
    },
  )
}
