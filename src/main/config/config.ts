import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'
import { parseListen } from '#platform/net/listenAddress.ts'
import { AppError } from '#shared/appError.ts'
import { registerTypedData } from '#shared/contract/automatons.ts'
import { DefaultNetwork } from '#shared/contract/sandboxes.ts'
import { RegistrarConfig } from './domainsConfig.ts'
import { InferenceConfig } from './inferenceConfig.ts'
import { PaymentsConfig } from './paymentsConfig.ts'

const listenSyntax = 'must be HOST:PORT, as in 127.0.0.1:8080 or [::1]:0'

/**
 * `HOST:PORT`; an IPv6 address is written in brackets. Port 0 selects a free port, which is reused as long as it stays
 * free.
 */
const Listen = z
  .string()
  .regex(/^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/]+):\d{1,5}$/, listenSyntax)
  .refine((value) => Number(value.slice(value.lastIndexOf(':') + 1)) < 65_536, 'must have a port up to 65535')
const DnsServerAddress = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || isIP(parseListen(text)?.host ?? '') !== 0,
    'must be an IP address, optionally with a port, as in 1.1.1.1, 127.0.0.1:5353 or [::1]:5353',
  )
const Url = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).nullable()
const RpcUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
const File = z.string().min(1, 'must name a file').nullable()

const limit = z.int('must be a whole number').min(1, 'must be at least 1').max(1_000_000, 'must be at most 1000000')

/** Whether access tokens can be sent to the URL. */
function isSafeService(url: string): boolean {
  const { protocol, hostname, pathname, search, username } = new URL(url)
  if (pathname !== '/' || search !== '' || username !== '') return false
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

const loopbackEndpoint = /^tcp:\/\/(localhost|127(\.\d+){3}|\[::1\]):/

const Docker = z
  .strictObject({
    endpoint: z
      .string()
      .regex(
        /^(unix:\/\/\/.+|npipe:\/\/.+|tcp:\/\/(\[[0-9a-fA-F:.]+\]|[^\s:[\]/@]+):\d{1,5})$/,
        'must be unix:///PATH, npipe:////./pipe/NAME or tcp://HOST:PORT',
      )
      .nullable()
      .default(null)
      .meta({
        description:
          'Endpoint of the container engine, for example unix:///var/run/docker.sock or tcp://engine.example.com:2376. If unset, Steward tries the default sockets of Docker, OrbStack, Colima and Podman.',
      }),
    ca_file: File.default(null).meta({ description: 'PEM file with the CA certificate of a tcp engine.' }),
    cert_file: File.default(null).meta({ description: 'PEM file with the client certificate for a tcp engine.' }),
    key_file: File.default(null).meta({ description: 'PEM file with the private key of the client certificate.' }),
    image: z
      .string()
      .regex(/^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$/, 'must be an image reference, as in docker.io/library/debian:12')
      .default('docker.io/library/debian:12')
      .meta({
        description:
          'Default container image, used if the request for a sandbox names none. The image must contain bash and perl.',
      }),
    pull: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether to pull the default image when the first sandbox needs it.' }),
  })
  .refine(
    ({ ca_file, cert_file, key_file }) => new Set([ca_file, cert_file, key_file].map((it) => it === null)).size === 1,
    {
      error: 'needs all of `ca_file`, `cert_file` and `key_file`, or none of them',
    },
  )
  .refine(
    ({ endpoint, ca_file }) => !endpoint?.startsWith('tcp:') || ca_file !== null || loopbackEndpoint.test(endpoint),
    {
      error: 'needs `ca_file`, `cert_file` and `key_file` for an engine on another machine',
    },
  )

/**
 * All configuration keys with their defaults. `resources/config.schema.json` and `docs/configuration.md` are generated
 * from this schema.
 */
export const Config = z.strictObject({
  $schema: z.string().optional().meta({ description: 'Location of `config.schema.json`, for editors.' }),
  service: z
    .strictObject({
      listen: Listen.default('127.0.0.1:0').meta({
        description:
          'Address on which the service listens. Port 0 selects a free port, which is reused. An address beyond loopback requires `service.tls` or `service.insecure_behind_proxy`.',
      }),
      public_url: Url.default(null).meta({
        description: 'Public URL of the service, if it differs from the address on which the service listens.',
      }),
      tls: z
        .strictObject({
          cert_file: File.default(null).meta({ description: 'PEM file with the certificate chain.' }),
          key_file: File.default(null).meta({ description: 'PEM file with the private key of the certificate.' }),
        })
        .refine((value) => (value.cert_file === null) === (value.key_file === null), {
          error: 'needs both `cert_file` and `key_file`, or neither',
        })
        .prefault({}),
      sandbox_host: z
        .string()
        .regex(
          /^(?=.{1,180}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/,
          'must be a host name, as in sandboxes.example.com',
        )
        .nullable()
        .default(null)
        .meta({
          description:
            'Domain of exposed ports: https://{port}-{sandbox_id}.{sandbox_host}. Its wildcard DNS record and TLS certificate must lead to the service. Use a separate domain, not a subdomain of the service’s domain, and add it to the Public Suffix List. Otherwise, browsers let the page of one sandbox set cookies for all sandboxes. Default: http://{port}-{sandbox_id}.localhost on this computer.',
        }),
      database: z
        .strictObject({
          url_file: File.default(null).meta({
            description:
              'File that contains only the URL of a PostgreSQL database, such as `postgresql://steward:PASSWORD@db.example/steward?sslmode=verify-full`. Requires PostgreSQL 15 or newer, a separate database with UTF-8, and no transaction pooler. One service at a time can use it. A server on another computer requires `sslmode=verify-full`; `sslrootcert=FILE` names a private authority. The application ignores it. Default: SQLite in the data folder.',
          }),
        })
        .prefault({}),
      insecure_behind_proxy: z.boolean().default(false).meta({
        description:
          'Whether the service listens beyond loopback without TLS because a proxy in front adds TLS. The service then takes the client address from the last entry of X-Forwarded-For, so only the proxy may be able to reach it.',
      }),
      rate_limits: z
        .strictObject({
          per_key: limit.default(6_000).meta({
            description:
              'Maximum requests per minute for each API key or sign-in, and the maximum burst. The owner has no limit.',
          }),
          per_address: limit.default(12_000).meta({
            description:
              'Maximum requests per minute from one IP address, or from one /64 network for IPv6. Requests by the owner do not count.',
          }),
          sign_ins_per_address: limit.default(300).meta({
            description:
              'Maximum sign-in requests (nonces, messages, refresh tokens) and automaton registrations per minute, as part of `per_address`.',
          }),
          new_automatons_per_day: limit.default(1_000).meta({
            description:
              'Maximum automaton registrations from one network in 24 hours. A repeated registration does not count. The owner is exempt from this limit and the limits below.',
          }),
          nonces_per_day: limit.default(20_000).meta({
            description: 'Maximum nonces for sign-ins and registrations that one network can create in 24 hours.',
          }),
          new_accounts_per_day: limit.default(1_000).meta({
            description:
              'Maximum wallets from one network that sign in for the first time and get an account in 24 hours.',
          }),
        })
        .prefault({}),
    })
    .prefault({}),
  auth: z
    .strictObject({
      domains: z
        .array(
          z.string().regex(/^[a-z0-9.-]+(:\d{1,5})?$/, 'must be host names in lower case, as in steward.example.com'),
        )
        .default(['conway.tech'])
        .meta({
          description:
            'Additional domains that are accepted in sign-in messages. The address of the request is always accepted. Programs written for a hosted service sign the domain of that service, even if they connect to another address.',
        }),
      new_accounts: z.boolean().nullable().default(null).meta({
        description:
          'Whether a wallet that signs in for the first time gets an account. `true`: always. `false`: never, so only linked wallets can sign in. If unset, a standalone service creates an account, and the service of the application asks you in Approvals.',
      }),
    })
    .prefault({}),
  app: z
    .strictObject({
      listen: Listen.default('127.0.0.1:0').meta({
        description:
          'Address on which the application serves its interface. Loopback only. Port 0 selects a free port, which is reused.',
      }),
      open_browser: z.boolean().default(true).meta({
        description: 'Whether to open the browser at startup if Steward has no window.',
      }),
      service_url: Url.refine(
        (value) => value === null || isSafeService(value),
        'must be https://HOST, or http:// on this computer, without a path',
      )
        .default(null)
        .meta({
          description:
            'URL of a remote service that the application uses instead of a local one. The application signs in to it with the wallet.',
        }),
      service_ca_file: File.default(null).meta({
        description:
          'PEM file with the CA certificate of the remote service. If unset, the public certificate authorities apply.',
      }),
    })
    .prefault({}),
  sandboxes: z
    .strictObject({
      runtimes: z
        .array(z.enum(['bubblewrap', 'docker'], 'must be bubblewrap or docker'))
        .min(1, 'must name at least one runtime')
        .default(['bubblewrap', 'docker'])
        .meta({
          description:
            'Sandbox runtimes, in the order in which Steward tries them: `bubblewrap` (Linux), `docker` (Docker, Podman, OrbStack, Colima).',
        }),
      docker: Docker.prefault({}),
      default_network: DefaultNetwork.default('auto').meta({
        description:
          'Default network access of a sandbox: `none`, `internet` (public addresses only) or `open`. `auto` selects `internet` if this computer supports network access for sandboxes, otherwise `none`.',
      }),
      warm_pool_size: z
        .int('must be a whole number')
        .min(0, 'must be at least 0')
        .max(16, 'must be at most 16')
        .nullable()
        .default(null)
        .meta({
          description:
            'Number of bubblewrap sandboxes in the warm pool, which make the next sandbox available immediately. Warm sandboxes have the settings of your last sandbox. They stop after ten minutes without a new sandbox. If unset: 2 on a computer with 16 GB of memory, 1 with 4 GB, otherwise 0.',
        }),
      cpu_weight: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(10_000, 'must be at most 10000')
        .default(25)
        .meta({
          description:
            'CPU weight of all bubblewrap sandboxes together on a busy computer. Steward and every other program have a weight of 100. The default is a quarter of that, so Steward stays responsive under full sandbox load. Sandboxes can use all idle CPU time.',
        }),
    })
    .prefault({}),
  credits: z
    .strictObject({
      owner_start_cents: z
        .int('must be a whole number of cents')
        .min(0, 'must be at least 0')
        .max(100_000_000, 'must be at most 100000000')
        .default(1_000)
        .meta({
          description:
            'Initial credits of the owner’s account, granted once. In the application, credits meter the use of your provider keys. Change them on the Credits screen or with POST /v1/credits/adjustments.',
        }),
      charge_sandboxes: z.boolean().default(false).meta({
        description:
          'Whether to charge running sandboxes to the credits of their account, per second. The service of the application never charges for sandboxes; it only shows their cost.',
      }),
    })
    .prefault({}),
  payments: PaymentsConfig,
  domains: z
    .strictObject({
      dns_listen: Listen.nullable().default(null).meta({
        description:
          'Address on which the DNS server for names of the test registry listens, over UDP and TCP. If unset, the application listens on a free port of this computer, and a standalone service runs no DNS server.',
      }),
      registrar: RegistrarConfig,
      rdap_bootstrap_file: z.string().min(1).nullable().default(null).meta({
        description:
          'File with the list of RDAP servers, in the format of https://data.iana.org/rdap/dns.json. Replaces the short list that Steward includes. `GET /domains/check?source=rdap` queries these servers for the public registration of names.',
      }),
      resolvers: z.array(DnsServerAddress).default([]).meta({
        description:
          'DNS servers that verify your ownership of a sandbox domain. Each entry is an IP address, with a port if it is not 53. If empty, the DNS servers of the system apply.',
      }),
      propagation_resolvers: z
        .array(DnsServerAddress)
        .max(12, 'must name at most 12 servers')
        .default(['1.1.1.1', '8.8.8.8', '9.9.9.9', '208.67.222.222'])
        .meta({
          description:
            'DNS servers that the window queries to show the propagation of changed records. Each entry is an IP address, optionally with a port, for example 127.0.0.1:5353. These servers see the names that you look up. The first server also resolves the addresses of nameservers.',
        }),
    })
    .prefault({}),
  inference: InferenceConfig,
  wallet: z
    .strictObject({
      secret_store: z.enum(['auto', 'vault_file'], 'must be auto or vault_file').default('auto').meta({
        description:
          'Storage of the encrypted secrets of a new wallet. `auto`: the system keychain, or a file in the data folder if no keychain is available. `vault_file`: always the file. An existing wallet stays in its original storage.',
      }),
      rpc: z
        .strictObject({
          base: RpcUrl.default('https://mainnet.base.org').meta({
            description:
              'JSON-RPC endpoint of Base, used to read balances. The URL can contain a key: Steward shows only its host.',
          }),
          base_sepolia: RpcUrl.default('https://sepolia.base.org').meta({
            description:
              'JSON-RPC endpoint of Base Sepolia, used to read balances. The URL can contain a key: Steward shows only its host.',
          }),
          solana: RpcUrl.default('https://api.mainnet-beta.solana.com').meta({
            description:
              'JSON-RPC endpoint of Solana, queried for payments on Solana. The URL can contain a key: Steward shows only its host.',
          }),
          solana_devnet: RpcUrl.default('https://api.devnet.solana.com').meta({
            description:
              'JSON-RPC endpoint of Solana Devnet, queried for payments on Solana Devnet. The URL can contain a key: Steward shows only its host.',
          }),
        })
        .prefault({}),
    })
    .prefault({}),
  identity: z
    .strictObject({
      domain_name: z
        .string()
        .regex(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters')
        .default(registerTypedData.defaultDomainName)
        .meta({
          description:
            'Name of the EIP-712 domain in registration signatures. The wallet and the service must use the same name.',
        }),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error')
        .default('info')
        .meta({ description: 'Minimum severity of log entries.' }),
    })
    .prefault({}),
})
export type Config = z.infer<typeof Config>

export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the environment of this process. No other code accesses `process.env`. */
export function readEnvironment(): Environment {
  return process.env
}

/** Returns the environment of the sandbox host. An allow-list, so that no other variable can reach a sandbox. */
export function readHostEnvironment(): Environment {
  const names = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']
  // systemd-run needs these to reach the user's service manager
  const session = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS']
  const isSetting = ([name]: [string, unknown]) =>
    names.includes(name) || session.includes(name) || name.startsWith(foreignPrefix)
  return Object.fromEntries(Object.entries(process.env).filter(isSetting))
}

/** Variables with this prefix are reserved for tests. */
const foreignPrefix = 'STEWARD_TEST_'
const prefix = 'STEWARD_'
/** API keys for clients, which the documentation exports in a shell. Not configuration. */
const clientVariables: readonly string[] = ['STEWARD_KEY', 'STEWARD_MCP_KEY', 'STEWARD_TOOLS_KEY']

/** Former keys, accepted until 0.3.0, with their current ones. */
const renamedKeys: readonly (readonly [former: string[], current: string[]])[] = [
  [
    ['sandboxes', 'spares'],
    ['sandboxes', 'warm_pool_size'],
  ],
]

/**
 * Loads the configuration. Precedence: environment (`STEWARD_…`), file, defaults.
 * @param source with `required`, a missing file is an error
 * @throws AppError `config/invalid` with the key and its source
 */
export function loadConfig(source: {
  file: string
  required: boolean
  environment: Environment
  /** Receives one sentence for each former key that is set. */
  onWarning?: (warning: string) => void
}): Config {
  const content = readFile(source)
  for (const [former, current] of renamedKeys) {
    const value = remove(content, former)
    if (value === undefined) continue
    source.onWarning?.(`\`${former.join('.')}\` in ${source.file} is now called \`${current.join('.')}\`.`)
    set(content, current, value)
  }
  for (const [name, text] of Object.entries(source.environment)) {
    if (!name.startsWith(prefix) || name.startsWith(foreignPrefix) || text === undefined) continue
    if (clientVariables.includes(name)) continue
    const renamed = renamedKeys.find(([former]) => toVariable(former) === name)
    const variable = renamed ? toVariable(renamed[1]) : name
    if (renamed) source.onWarning?.(`The environment variable ${name} is now called ${variable}.`)
    const key = listConfigKeys().find((it) => it.variable === variable)
    if (!key) throw createInvalidError(`Unknown environment variable ${name}.`)
    set(content, key.path, parseText(key, text))
  }
  const parsed = Config.safeParse(content)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw createInvalidError(issue ? describeIssue(issue, source) : 'The configuration is not valid.')
}

export type ConfigKey = { path: string[]; variable: string; schema: z.ZodType; description: string; initial: unknown }

/** Returns the keys of all values, in schema order. */
export function listConfigKeys(): ConfigKey[] {
  return listLeaves(Config, []).filter((key) => key.path[0] !== '$schema')
}

function listLeaves(schema: z.ZodType, path: string[]): ConfigKey[] {
  const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : schema
  if (inner instanceof z.ZodObject) {
    // the shape of an object schema contains schemas
    return Object.entries(inner.shape).flatMap(([name, field]) => listLeaves(field as z.ZodType, [...path, name]))
  }
  return [
    {
      path,
      variable: toVariable(path),
      schema,
      description: schema.meta()?.description ?? '',
      initial: schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined,
    },
  ]
}

function toVariable(path: readonly string[]): string {
  return `${prefix}${path.join('_').toUpperCase()}`
}

/** Removes a key. @returns its value, or undefined if it is not set */
function remove(target: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return undefined
  const parent = target as Record<string, unknown> // an object of parsed JSON
  if (rest.length > 0) return remove(parent[name], rest)
  const value = parent[name]
  delete parent[name]
  return value
}

function readFile({ file, required }: { file: string; required: boolean }): Record<string, unknown> {
  if (!required && !existsSync(file)) return {}
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw createInvalidError(`Cannot read the configuration ${file}: ${toReason(cause)}.`, cause)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw createInvalidError(`The configuration ${file} is not valid JSON: ${toReason(cause)}.`, cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw createInvalidError(`The configuration ${file} must be a JSON object.`)
  }
  return value as Record<string, unknown> // checked above
}

/**
 * Parses the text of an environment variable. Lists are separated by commas, flags are `true` or `false`, and empty
 * text is null.
 */
function parseText({ schema, variable }: ConfigKey, text: string): unknown {
  const inner = schema instanceof z.ZodDefault ? schema.unwrap() : schema
  if (inner instanceof z.ZodArray) return text.split(',').map((it) => it.trim())
  if (inner instanceof z.ZodNullable && text === '') return null
  const kind = inner instanceof z.ZodNullable ? inner.unwrap() : inner
  if (kind instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (!(inner instanceof z.ZodBoolean)) return text
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw createInvalidError(`${variable} must be true or false, not "${text}".`)
}

function set(target: Record<string, unknown>, path: string[], value: unknown): void {
  const [name, ...rest] = path
  if (name === undefined) return
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const existing = target[name]
  const inner = typeof existing === 'object' && existing !== null ? (existing as Record<string, unknown>) : {}
  if (existing === undefined || inner === existing) {
    target[name] = inner
    set(inner, rest, value)
  }
}

function describeIssue(issue: z.core.$ZodIssue, source: { file: string; environment: Environment }): string {
  if (issue.code === 'unrecognized_keys') {
    const key = [...issue.path, issue.keys[0]].join('.')
    return `Unknown key \`${key}\` in ${source.file}.`
  }
  const names = issue.path.filter((it) => typeof it === 'string')
  const key = listConfigKeys().find((configKey) => configKey.path.join('.') === names.join('.'))
  // An error about several keys has the path of the object that contains them.
  const within = listConfigKeys().filter(({ path }) => names.every((name, index) => path[index] === name))
  const [variable] = (key ? [key] : within).flatMap((part) =>
    source.environment[part.variable] ? [part.variable] : [],
  )
  const setting = variable ? `\`${names.join('.')}\` (from ${variable})` : `\`${names.join('.')}\` in ${source.file}`
  return `${setting} ${issue.message.startsWith('must') || issue.message.startsWith('needs') ? issue.message : `is not valid: ${issue.message}`}.`
}

function createInvalidError(message: string, cause?: unknown): AppError {
  return new AppError('config/invalid', message, { cause })
}

function toReason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
