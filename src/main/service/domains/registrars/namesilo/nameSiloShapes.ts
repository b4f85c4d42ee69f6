import { z } from 'zod'

/**
 * Schemas of NameSilo's responses. The JSON is converted from XML: numbers may be strings, and a list with one element
 * may be that element.
 */

const Yes = z.union([z.boolean(), z.string(), z.number()]).transform((value) => /^(yes|true|1)$/i.test(String(value)))
const Day = z.string().transform((text, context) => {
  const ms = Date.parse(`${text.slice(0, 10)}T00:00:00Z`)
  if (Number.isFinite(ms)) return ms
  context.addIssue({ code: 'custom', message: 'is not a valid day' })
  return z.NEVER
})
const Host = z
  .union([z.string(), z.object({ nameserver: z.string() }).transform((it) => it.nameserver)])
  .transform((host) => host.toLowerCase().replace(/\.$/, ''))
const Whole = z.coerce.number().int().nonnegative()

export const Price = z.object({
  registration: z.unknown().optional(),
  renew: z.unknown().optional(),
  transfer: z.unknown().optional(),
})

/** Offer of an available name. Unavailable names are listed without an offer. */
export const Offer = z.preprocess(
  (value) => (typeof value === 'string' ? { domain: value } : value),
  z.object({
    domain: z.string().transform((name) => name.toLowerCase()),
    price: z.unknown().optional(),
    renew: z.unknown().optional(),
    premium: Yes.default(false),
    duration: z.coerce.number().default(1),
  }),
)

export const DomainInfo = z
  .object({
    created: Day,
    expires: Day,
    status: z.string().transform((status) => status.toLowerCase()),
    locked: Yes,
    private: Yes,
    auto_renew: Yes,
    nameservers: z
      .unknown()
      .optional()
      .transform((value) => listEntries(value).flatMap((it) => Host.safeParse(it).data ?? [])),
  })
  .transform(
    ({ created: registeredAtMs, expires: expiresAtMs, private: privacy, auto_renew: autoRenew, ...domain }) => ({
      ...domain,
      ...{ registeredAtMs, expiresAtMs, privacy, autoRenew },
    }),
  )

export const Record = z
  .object({
    record_id: z.union([z.string().min(1), z.number()]).transform(String),
    type: z.string().transform((type) => type.toUpperCase()),
    host: z.string(),
    value: z.coerce.string(),
    ttl: Whole,
    distance: Whole.nullish().transform((it) => it ?? 0),
  })
  .transform(({ record_id: id, ...record }) => ({ id, ...record }))

const wrappers = ['domain', 'nameserver', 'resource_record']

/** Returns the entries of a list, of a single element, of `{domain: […]}` or of `{"0": …}`. */
export function listEntries(value: unknown): unknown[] {
  if (value === undefined || value === null || value === '') return []
  if (Array.isArray(value)) return value
  if (typeof value !== 'object') return [value]
  const fields = Object.entries(value)
  const [only] = fields
  if (only && fields.length === 1 && wrappers.includes(only[0]) && typeof only[1] === 'object')
    return listEntries(only[1])
  return fields.length > 0 && fields.every(([name]) => /^\d+$/.test(name)) ? fields.map(([, entry]) => entry) : [value]
}
