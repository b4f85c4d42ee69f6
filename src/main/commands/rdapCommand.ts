import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { StartOptions } from '#config/startOptions.ts'
import { openDataFolder } from '#platform/files/dataFolder.ts'
import { getRdapListPath } from '#platform/files/rdapListFile.ts'
import { replaceFile } from '#platform/files/replaceFile.ts'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'

const publicList = 'https://data.iana.org/rdap/dns.json'
/** IANA's list has about 300 KB and more than 1,000 top-level domains. */
const maxAnswerBytes = 4 * 1024 * 1024
const minDomains = 100
const answerMs = 60_000
const dayMs = 24 * 3600 * 1000

/** @see https://www.rfc-editor.org/rfc/rfc9224 */
const RdapList = z.object({
  version: z.literal('1.0'),
  publication: z.iso.datetime({ offset: true }),
  services: z.array(z.tuple([z.array(z.string().regex(/^[a-z0-9-]{1,63}$/i)), z.array(z.url())])),
})

/**
 * Downloads the list of RDAP servers to the data folder. The service reads it at its next start. Rejects a malformed
 * list, or one older than the current list, without changes.
 * @throws AppError `command/usage`, `command/failed`
 */
export async function runRdap({
  rdap,
  dataFolder,
  json,
}: Pick<StartOptions, 'rdap' | 'dataFolder' | 'json'>): Promise<number> {
  const url = rdap ?? publicList
  const text = await fetchText(url)
  const list = parseList(url, text)
  const file = getRdapListPath(dataFolder)
  const before = readPublication(file)
  if (before !== undefined && Date.parse(list.publication) < before) {
    throw new AppError('rdap/list', `The list at ${url} is older than the current one. Nothing was changed.`)
  }
  await openDataFolder(dataFolder)
  await replaceFile(file, text)
  const domains = list.services.reduce((sum, [suffixes]) => sum + suffixes.length, 0)
  const result = { domains, publication: list.publication, file }
  if (json) process.stdout.write(`${JSON.stringify({ event: 'rdap-updated', ...result })}\n`)
  else {
    const day = list.publication.slice(0, 10)
    process.stdout.write(`${domains} top-level domains, published ${day}. Restart Steward to use them.\n`)
  }
  return 0
}

async function fetchText(url: string): Promise<string> {
  const isLoopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d+)?\//.test(url)
  if (!url.startsWith('https://') && !isLoopback) {
    throw new AppError('command/usage', `${url} is not an https URL.`)
  }
  const client = createHttpClient({ maxAnswerBytes })
  try {
    const signal = AbortSignal.timeout(answerMs)
    const { status, text } = await client.ask(url, { method: 'GET', headers: { accept: 'application/json' }, signal })
    if (status === 200) return text
    throw new Error(`The server responded with status ${status}.`)
  } catch (cause) {
    throw createUnreadableError(url, cause)
  } finally {
    client.close()
  }
}

function createUnreadableError(url: string, cause: unknown): AppError {
  return new AppError('rdap/list', `${url} cannot be read.`, { cause })
}

function parseList(url: string, text: string): z.output<typeof RdapList> {
  const parsed = RdapList.safeParse(parseJsonOrUndefined(text))
  if (!parsed.success) throw new AppError('rdap/list', `${url} is not a list of RDAP servers.`, { cause: parsed.error })
  const list = parsed.data
  const isUsable = (urls: readonly string[]) => urls.some((it) => it.startsWith('https://'))
  const count = list.services.reduce((sum, [suffixes, urls]) => sum + (isUsable(urls) ? suffixes.length : 0), 0)
  if (count < minDomains) {
    throw new AppError('rdap/list', `${url} is incomplete: it only covers ${count} top-level domains.`)
  }
  if (Date.parse(list.publication) > Date.now() + dayMs) {
    throw new AppError('rdap/list', `${url} has a publication date in the future: ${list.publication.slice(0, 10)}.`)
  }
  return list
}

function readPublication(file: string): number | undefined {
  try {
    const parsed = RdapList.safeParse(parseJson(readFileSync(file, 'utf8')))
    return parsed.success ? Date.parse(parsed.data.publication) : undefined
  } catch {
    return undefined
  }
}
