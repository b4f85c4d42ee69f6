import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import type { discoverPayments } from '#shared/contract/localPayments.ts'
import type { Output } from '#shared/contract/route.ts'
import { parseRequirements, readRequirements, sanitizeText } from './parseRequirements.ts'
import type { Seller, SellerResponse } from './seller.ts'

type Discovered = Output<typeof discoverPayments>
type Endpoint = Discovered['endpoints'][number]
type Source = NonNullable<Discovered['source']>

const maxEndpoints = 100
/** Maximum number of values read from an untrusted document. */
const maxValues = 5_000
const maxDepth = 32
const methods: ReadonlySet<string> = new Set(['get', 'head', 'post', 'put', 'patch', 'delete'])

/**
 * Reads the offers of a site from the first well-known location that has a list. Parses leniently, because formats
 * vary. Listed addresses are not requested and listed prices are not trusted: `check` returns the actual price.
 */
export async function discoverEndpoints(seller: Seller, url: URL, signal: AbortSignal): Promise<Discovered> {
  const { origin } = url
  const ways: { url: string; source: Source; read: (answer: SellerResponse) => Endpoint[] }[] = [
    {
      url: `${origin}/.well-known/x402`,
      source: 'well-known',
      read: (sellerResponse) => parseListing(parseBody(sellerResponse), origin),
    },
    {
      url: `${origin}/.well-known/x402.json`,
      source: 'well-known',
      read: (sellerResponse) => parseListing(parseBody(sellerResponse), origin),
    },
    {
      url: `${origin}/openapi.json`,
      source: 'openapi',
      read: (sellerResponse) => parseOpenApi(parseBody(sellerResponse), origin),
    },
    { url: url.href, source: 'probe', read: (it) => parseProbe(it, url.href) },
    {
      url: `${origin}/llms.txt`,
      source: 'llms',
      read: (sellerResponse) => parseText(sellerResponse.body.toString('utf8'), origin),
    },
  ]
  const tried: Discovered['tried'] = []
  for (const way of ways) {
    const request = { method: 'GET', url: way.url, headers: { accept: 'application/json, text/plain, */*' } }
    try {
      const answer = await seller.ask(request, signal)
      const fits = way.source === 'probe' ? answer.status === 402 : answer.status === 200
      const endpoints = fits ? way.read(answer).slice(0, maxEndpoints) : []
      tried.push({ url: way.url, status: answer.status, detail: null })
      if (endpoints.length > 0) {
        return { url: url.href, source: way.source, source_url: way.url, endpoints, tried }
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      tried.push({ url: way.url, status: null, detail: error.message })
    }
  }
  if (tried.every(({ status }) => status === null)) {
    throw new AppError('purchase/seller', tried[0]?.detail ?? `${url.host} did not respond.`)
  }
  return { url: url.href, source: null, source_url: null, endpoints: [], tried }
}

function parseBody({ body }: SellerResponse): unknown {
  return parseJsonOrUndefined(body.toString('utf8'))
}

function parseProbe(answer: SellerResponse, url: string): Endpoint[] {
  const offers = readRequirements(answer.headers, answer.body.toString('utf8')).map(({ offer }) => offer)
  return [{ url, method: 'GET', description: offers[0]?.description ?? null, offers }]
}

/** Parses lists of URLs, or of objects with a URL, at any depth. */
function parseListing(document: unknown, origin: string): Endpoint[] {
  const endpoints = new Map<string, Endpoint>()
  const todo: { value: unknown; depth: number }[] = [{ value: document, depth: 0 }]
  const later = (values: readonly unknown[], depth: number): void => {
    if (depth > maxDepth) return
    for (const value of values.slice(0, Math.max(0, maxValues - todo.length))) todo.push({ value, depth })
  }
  for (const { value, depth } of todo) {
    if (typeof value === 'string') {
      const url = toAbsoluteUrl(value, origin)
      if (url !== undefined && !endpoints.has(url))
        endpoints.set(url, { url, method: null, description: null, offers: [] })
    } else if (Array.isArray(value)) {
      later(value.slice(0, maxEndpoints), depth + 1)
    } else if (typeof value === 'object' && value !== null) {
      const fields = value as Readonly<Record<string, unknown>>
      const url = [fields.url, fields.resource, fields.endpoint, fields.path]
        .map((it) => toAbsoluteUrl(it, origin))
        .find(Boolean)
      if (url !== undefined) {
        const { x402Version, accepts, resource } = fields
        const demand = { x402Version: x402Version === 1 ? 1 : 2, accepts, resource: toFields(resource) }
        const offers = Array.isArray(accepts) ? parseRequirements(demand) : []
        endpoints.set(url, {
          url,
          method: parseMethod(fields.method),
          description: typeof fields.description === 'string' ? sanitizeText(fields.description) : null,
          offers: offers.map(({ offer }) => offer),
        })
      } else
        later(
          Object.values(fields).filter((it) => typeof it === 'object'),
          depth + 1,
        )
    }
  }
  return [...endpoints.values()]
}

/** Parses operations that declare a 402 response or an extension for payments. */
function parseOpenApi(document: unknown, origin: string): Endpoint[] {
  const { paths, servers } = toFields(document)
  const base =
    toAbsoluteUrl(toFields(Array.isArray(servers) ? servers[0] : undefined).url, origin)?.replace(/\/$/, '') ?? origin
  return Object.entries(toFields(paths)).flatMap(([path, operations]) =>
    Object.entries(toFields(operations)).flatMap(([method, operation]): Endpoint[] => {
      const { responses, summary, description, ...rest } = toFields(operation)
      const paid = '402' in toFields(responses) || Object.keys(rest).some((it) => /^x-.*(402|payment)/i.test(it))
      const url = toAbsoluteUrl(`${base}${path}`, origin)
      if (!methods.has(method) || !paid || url === undefined) return []
      const text = [summary, description].find((it) => typeof it === 'string')
      return [{ url, method: method.toUpperCase(), description: sanitizeText(text as string | undefined), offers: [] }]
    }),
  )
}

/** Parses URLs in lines that mention payments. */
function parseText(text: string, origin: string): Endpoint[] {
  const lines = text.split('\n', maxValues).filter((line) => /x402|\b402\b|paid|usdc/i.test(line))
  const urls = lines.flatMap(
    (line) => line.slice(0, 2_000).match(/https?:\/\/[^\s)<>"'`\]]+|(?<=\]\()\/[^\s)]+/g) ?? [],
  )
  const absoluteUrls = urls.flatMap((it) => toAbsoluteUrl(it, origin) ?? [])
  return [...new Set(absoluteUrls)].map((url) => ({ url, method: null, description: null, offers: [] }))
}

function toAbsoluteUrl(value: unknown, origin: string): string | undefined {
  if (typeof value !== 'string' || value.length > 2_048 || !/^(https?:\/\/|\/)[\x21-\x7e]*$/.test(value))
    return undefined
  const url = URL.parse(value, origin)
  return url && /^https?:$/.test(url.protocol) && url.username === '' ? url.href : undefined
}

function parseMethod(value: unknown): string | null {
  return typeof value === 'string' && methods.has(value.toLowerCase()) ? value.toUpperCase() : null
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
