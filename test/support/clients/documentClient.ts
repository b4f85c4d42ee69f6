import { z } from 'zod'
import { type Answer, exchange, type RequestFields as HttpFields, type Json } from '../processes/runningService.ts'

/** Arguments of an operation, named as in the document. */
export type RequestFields = { path?: Record<string, string>; query?: Record<string, string>; body?: unknown }

/** Creates an API client that is driven only by the OpenAPI document. */
export function documentClient(origin: string, document: Json) {
  const operations = new Map<string, { path: string; method: string; about: Json }>()
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, about] of Object.entries<Json>(methods)) {
      operations.set(about.operationId, { path, method: method.toUpperCase(), about })
    }
  }
  const findOperation = (name: string) => {
    const operation = operations.get(name)
    if (!operation) throw new Error(`The document has no operation ${name}.`)
    return operation
  }

  /** Builds a validator that rejects values the document's schema rejects. */
  const reader = (schema: object): z.ZodType => {
    const { Error: error, ...schemas } = document.components.schemas
    const whole = { $defs: { ...schemas, Error: error }, ...schema }
    const text = JSON.stringify(whole, (key, value) => {
      // zod compiles patterns without the `u` flag. JSON Schema applies it, and these patterns need it.
      return key === 'pattern' && /\\p\{/i.test(value) ? undefined : value
    })
    return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
  }
  const jsonSchema = (media: Json): object | undefined => media?.content?.['application/json']?.schema

  return {
    operations: [...operations.keys()],
    reader,
    /** Alternative security requirements, or an empty list if the operation needs no credential. */
    securityOf: (name: string): Record<string, string[]>[] => findOperation(name).about.security ?? document.security,
    successOf: (name: string): number => Number(Object.keys(findOperation(name).about.responses)[0]),
    /** @throws if the request or the response does not match the document */
    async call(
      name: string,
      { path = {}, query = {}, body }: RequestFields,
      headers: Record<string, string>,
    ): Promise<Answer> {
      const { path: template, method, about } = findOperation(name)
      const filled = template.replace(/\{(\w+)\}/g, (_, parameter: string) => {
        const value = path[parameter]
        if (value === undefined) throw new Error(`${name} needs ${parameter}.`)
        return encodeURIComponent(value)
      })
      const sent = jsonSchema(about.requestBody)
      if (sent) reader(sent).parse(body)
      const search = new URLSearchParams(query).toString()
      const answer = await exchange(origin, search === '' ? filled : `${filled}?${search}`, {
        method: method as NonNullable<HttpFields['method']>,
        headers,
        ...(sent && { body }),
      })
      const said = about.responses[answer.status]
      if (!said)
        throw new Error(`${name} answered ${answer.status}, which the document does not tell of: ${answer.text}`)
      const [type = ''] = String(answer.headers['content-type']).split(';')
      if (!Object.keys(said.content).includes(type)) throw new Error(`${name} answered with ${type}.`)
      const schema = jsonSchema(said)
      if (schema) reader(schema).parse(answer.json)
      return answer
    },
  }
}
