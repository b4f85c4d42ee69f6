import { listOrphanedRecords, removeOrphanedRecords } from '#shared/contract/dnsRecords.ts'
import { checkDomains as checkRoute } from '#shared/contract/domainSearch.ts'
import { getAuthCode, setDomainLock, setDomainPrivacy, setNameservers } from '#shared/contract/domains.ts'

/** Operations of the service under the paths that the agent forwards. */
export const checkDomains = { ...checkRoute, path: '/v1/domains/check' } as const
export const changePrivacy = { ...setDomainPrivacy, path: '/v1/domains/:domain/privacy' } as const
export const changeLock = { ...setDomainLock, path: '/v1/domains/:domain/lock' } as const
export const readAuthCode = { ...getAuthCode, path: '/v1/domains/:domain/auth-code' } as const
export const listOrphaned = { ...listOrphanedRecords, path: '/v1/domains/:domain/orphaned-records' } as const
export const removeOrphaned = { ...removeOrphanedRecords, path: '/v1/domains/:domain/orphaned-records' } as const
export const changeNameservers = { ...setNameservers, path: '/v1/domains/:domain/nameservers' } as const
