import { z } from 'zod'
import type { HttpClient } from '#platform/http/httpClient.ts'
import { requestRegistrar, sanitizeRegistrarText } from '../askRegistrar.ts'
import { RegistrarError } from '../registrar.ts'

export type NameComCall = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: object
  /** Whether a POST only reads. */
  reads?: boolean
  signal?: AbortSignal | undefined
}
export type NameComApi = {
  /** @throws RegistrarError */
  ask<T>(path: string, schema: z.ZodType<T>, call?: NameComCall): Promise<T>
  /**
   * @returns undefined on 404
   * @throws RegistrarError
   */
  find<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined>
}

export const nameComTitle = 'name.com'

const Failure = z.object({ message: z.unknown().optional(), details: z.unknown().optional() })

/** Client of name.com's API, version 4. @see https://www.name.com/api-docs */
export function createNameComApi(options: {
  http: HttpClient
  url: string
  username: string
  token: string
}): NameComApi {
  const { http, username, token } = options
  const base = options.url.replace(/\/+$/, '')
  const authorization = `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`

  const send = async (path: string, { method = 'GET', body, reads, signal }: NameComCall) => {
    const changes = method !== 'GET' && reads !== true
    const answer = await requestRegistrar(
      { http, title: nameComTitle },
      {
        ...{ url: `${base}${path}`, method, changes, signal },
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      },
    )
    return { ...answer, changes }
  }
  const read = <T>(schema: z.ZodType<T>, { status, json, changes }: Answered): T => {
    const { data } = schema.safeParse(json)
    if (status === 200 && data !== undefined) return data
    throw toRegistrarError({ status, json, changes }, [token, authorization])
  }

  return {
    ask: async (path, schema, call = {}) => read(schema, await send(path, call)),
    async find(path, schema) {
      const answer = await send(path, {})
      return answer.status === 404 ? undefined : read(schema, answer)
    },
  }
}

type Answered = { status: number; json: unknown; changes: boolean }

function toRegistrarError({ status, json, changes }: Answered, secrets: readonly string[]): RegistrarError {
  const { data } = Failure.safeParse(json)
  const said = [data?.message, data?.details].map((it) => sanitizeRegistrarText(it, secrets)).filter((it) => it !== '')
  const cause = new Error(`Status ${status}: ${said.join(', ')}`)
  if (status === 429) return new RegistrarError('unreachable', `${nameComTitle} rate limit exceeded.`, { cause })
  // 402: the account has insufficient funds.
  if ([401, 402, 403].includes(status)) {
    return new RegistrarError('unreachable', `${nameComTitle} rejected the account of this service.`, { cause })
  }
  if (status >= 400 && status < 500 && data) {
    const isUnavailable = /not available|unavailable|already (registered|taken)/i.test(said.join(' '))
    return new RegistrarError(isUnavailable ? 'taken' : 'refused', `${nameComTitle} refused: ${said.join(', ')}`, {
      cause,
    })
  }
  return new RegistrarError(changes ? 'unclear' : 'unreachable', `${nameComTitle} did not respond.`, { cause })
}
