import { z } from 'zod'

/** Schemas of name.com's responses, which omit fields that are false, zero or empty. */

const Time = z.string().transform((text, context) => {
  const ms = Date.parse(text)
  if (Number.isFinite(ms)) return ms
  context.addIssue({ code: 'custom', message: 'is not a valid time' })
  return z.NEVER
})
const Name = z.string().transform((name) => name.toLowerCase().replace(/\.$/, ''))

export const Checked = z.object({
  results: z
    .array(
      z.object({
        domainName: Name,
        purchasable: z.boolean().default(false),
        premium: z.boolean().default(false),
        purchasePrice: z.number().nullish(),
        purchaseType: z.string().default('registration'),
        renewalPrice: z.number().nullish(),
      }),
    )
    .default([]),
})

export const Domain = z
  .object({
    domainName: Name,
    nameservers: z.array(Name).default([]),
    privacyEnabled: z.boolean().default(false),
    locked: z.boolean().default(false),
    autorenewEnabled: z.boolean().default(false),
    expireDate: Time,
    createDate: Time,
    renewalPrice: z.number().nullish(),
  })
  .transform(({ domainName: name, createDate: registeredAtMs, expireDate: expiresAtMs, ...domain }) => ({
    ...{ name, registeredAtMs, expiresAtMs, privacy: domain.privacyEnabled, autoRenew: domain.autorenewEnabled },
    ...{ locked: domain.locked, nameservers: domain.nameservers, renewalPrice: domain.renewalPrice },
  }))

/** Response to a change. Its fields are ignored. */
export const Done = z.looseObject({})

export const Order = z.object({ domain: z.looseObject({ domainName: Name }) })

export const AuthCodeAnswer = z.object({ authCode: z.string().min(1).max(200) })

const Id = z.number().int().positive()
export const Record = z
  .object({
    id: Id,
    host: z.string().default(''),
    type: z.string(),
    answer: z.string().default(''),
    ttl: z.number().int(),
    priority: z.number().int().default(0),
  })
  .transform(({ id, answer, priority, host, ...record }) => ({
    ...{ ...record, id: String(id), host: host === '' ? '@' : host, value: answer, distance: priority },
  }))
export const Records = z.object({ records: z.array(Record).default([]), nextPage: Id.optional() })
export const RecordId = z.object({ id: Id }).transform(({ id }) => String(id))

export const TldPrices = z.object({
  nextPage: Id.nullish(),
  pricing: z.array(
    z.object({
      tld: z.string(),
      registrationPrice: z.number().nullish(),
      renewalPrice: z.number().nullish(),
      transferInPrice: z.number().nullish(),
    }),
  ),
})
