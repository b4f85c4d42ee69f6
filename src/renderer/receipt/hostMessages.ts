export type Json = { readonly [name: string]: unknown }

/** Page that embeds this page. */
export type Host = {
  /** @throws {Error} if the host returns an error or does not respond within a minute */
  ask(method: string, params: Json): Promise<Json>
  tell(method: string, params: Json): void
}

type Listeners = { noticed(method: string, params: Json): void; ended(): void }

const answerMs = 60_000

/**
 * JSON-RPC with the host over `postMessage`, as specified by MCP Apps (2026-01-26,
 * https://github.com/modelcontextprotocol/ext-apps). Accepts messages only from the parent window. The host's origin is
 * unknown, so no secrets are ever sent.
 */
export function createHostMessages({ noticed, ended }: Listeners): Host {
  const open = new Map<number, (message: Json) => void>()
  let last = 0
  const send = (message: Json): void => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const answered = (message: Json): void => {
    const settle = open.get(Number(message.id))
    open.delete(Number(message.id))
    settle?.(message)
  }
  const request = ({ id, method }: Json): void => {
    if (method === 'ui/resource-teardown') ended()
    if (method === 'ui/resource-teardown' || method === 'ping') send({ id, result: {} })
    else send({ id, error: { code: -32_601, message: 'Method not found' } })
  }
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || !isJson(data) || data.jsonrpc !== '2.0') return
    if (typeof data.method !== 'string') answered(data)
    else if (data.id === undefined) noticed(data.method, toJsonObject(data.params))
    else request(data)
  })
  return {
    tell: (method, params) => send({ method, params }),
    ask(method, params) {
      last += 1
      const id = last
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => answered({ id, error: { message: 'The host did not respond.' } }), answerMs)
        open.set(id, ({ result, error }) => {
          clearTimeout(timer)
          if (error === undefined) resolve(toJsonObject(result))
          else reject(new Error(readText(toJsonObject(error).message) ?? 'The request failed.'))
        })
        send({ id, method, params })
      })
    },
  }
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @returns an empty object if the value is not an object */
export function toJsonObject(value: unknown): Json {
  return isJson(value) ? value : {}
}

export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
