import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'

/** Returns the RDAP server for names below a domain. @returns undefined if none is listed */
export type RdapBootstrap = (name: string) => string | undefined

const Bootstrap = z.object({
  services: z.array(z.tuple([z.array(z.string()), z.array(z.string())])),
})
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+\//

/**
 * Reads IANA's list of RDAP servers. The longest listed suffix of a name decides.
 * @see https://www.rfc-editor.org/rfc/rfc9224
 * @see https://data.iana.org/rdap/dns.json
 * @throws AppError `config/invalid`
 */
export function readRdapBootstrap(file: string): RdapBootstrap {
  const servers = new Map<string, string>()
  for (const [suffixes, urls] of readServices(file)) {
    const url = urls.find((value) => value.startsWith('https://') || loopback.test(value))
    if (url !== undefined) {
      for (const suffix of suffixes) servers.set(suffix.toLowerCase(), url.endsWith('/') ? url : `${url}/`)
    }
  }
  return (name) => {
    const labels = name.split('.')
    const suffixes = labels.map((_, index) => labels.slice(index).join('.')).slice(1)
    return suffixes.map((suffix) => servers.get(suffix)).find((it) => it !== undefined)
  }
}

function readServices(file: string): z.output<typeof Bootstrap>['services'] {
  try {
    return Bootstrap.parse(parseJson(readFileSync(file, 'utf8'))).services
  } catch (cause) {
    throw createInvalidListError(file, cause)
  }
}

function createInvalidListError(file: string, cause: unknown): AppError {
  return new AppError('config/invalid', `${file} is not a list of RDAP servers in IANA's format.`, { cause })
}
