import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'
import { parseListen } from '#platform/listenAddress.ts'
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
    'must be an IP address, as in 1.1.1.1, 127.0.0.1:5353 or [::1]:5353',
  )
const Url = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).nullable()
const RpcUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
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
          'Where the container engine answers, as in unix:///var/run/docker.sock or tcp://engine.example.com:2376. Without it, the usual sockets of Docker, OrbStack, Colima and Podman are tried.',
      }),
    ca_file: File.default(null).meta({ description: 'Certificate of the authority of a tcp engine, PEM.' }),
    cert_file: File.default(null).meta({ description: 'Certificate to show to a tcp engine, PEM.' }),
    key_file: File.default(null).meta({ description: 'Its private key, PEM.' }),
    image: z
      .string()
      .regex(/^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$/, 'must be an image reference, as in docker.io/library/debian:12')
      .default('docker.io/library/debian:12')
      .meta({ description: 'What containers are made from whose creator names no image. It needs bash and perl.' }),
    pull: z.boolean().default(true).meta({ description: 'Fetch that image when the first sandbox needs it.' }),
  })
  .refine(
    ({ ca_file, cert_file, key_file }) => new Set([ca_file, cert_file, key_file].map((it) => it === null)).size === 1,
    {
      error: 'needs `ca_file`, `cert_file` and `key_file`, or none of them',
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
  $schema: z.string().optional().meta({ description: 'For editors: the place of `config.schema.json`.' }),
  service: z
    .strictObject({
      listen: Listen.default('127.0.0.1:0').meta({
        description:
          'Where the service listens. Port 0 is a free port, remembered. Beyond loopback it needs `service.tls` or `service.insecure_behind_proxy`.',
      }),
      public_url: Url.default(null).meta({
        description: 'The address others reach the service at, when it is not the one it listens on.',
      }),
      tls: z
        .strictObject({
          cert_file: File.default(null).meta({ description: 'Certificate chain, PEM.' }),
          key_file: File.default(null).meta({ description: 'Its private key, PEM.' }),
        })
        .refine((it) => (it.cert_file === null) === (it.key_file === null), {
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
            'Domain of exposed ports: https://{port}-{sandbox_id}.{sandbox_host}. Its wildcard DNS and TLS must lead to the service. Use a separate domain, not a subdomain of the service’s, and add it to the Public Suffix List: otherwise browsers let the page of one sandbox set cookies for all. Default: http://{port}-{sandbox_id}.localhost on this computer.',
        }),
      insecure_behind_proxy: z.boolean().default(false).meta({
        description:
          'Listen beyond loopback without TLS, because a proxy in front adds it. Then the last entry of X-Forwarded-For is the address of a caller, so nobody but the proxy may reach the service.',
      }),
      rate_limits: z
        .strictObject({
          per_key: limit.default(6_000).meta({
            description: 'Requests a minute with one key or sign-in, and as many at once. The owner has no limit.',
          }),
          per_address: limit.default(12_000).meta({
            description:
              'Requests a minute from one address, those of the owner left out; of IPv6 from one network of 64 bits.',
          }),
          sign_ins_per_address: limit.default(300).meta({
            description:
              'Of these, requests of the sign-in itself (nonces, messages, refresh tokens) and registrations of automatons.',
          }),
          new_automatons_per_day: limit.default(1_000).meta({
            description:
              'Automatons that are registered from one network in 24 hours; registering one again counts nothing. The owner has no limit, here and below.',
          }),
          nonces_per_day: limit.default(20_000).meta({
            description: 'Nonces for sign-ins and registrations that are made for one network in 24 hours.',
          }),
          new_accounts_per_day: limit.default(1_000).meta({
            description: 'Wallets that sign in from one network for the first time, and get an account, in 24 hours.',
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
            'Domains whose sign-in messages are taken, beside the very address that a request came to: programs made for a hosted service sign its name wherever they are pointed.',
        }),
      new_accounts: z.boolean().nullable().default(null).meta({
        description:
          'Whether a wallet that signs in for the first time gets an account. `true`: always. `false`: never, so that only linked wallets sign in. Unset, a service that runs alone creates one, and the service of the application asks you in Approvals.',
      }),
    })
    .prefault({}),
  app: z
    .strictObject({
      listen: Listen.default('127.0.0.1:0').meta({
        description: 'Where the application serves its interface: loopback only. Port 0 is a free port, remembered.',
      }),
      open_browser: z.boolean().default(true).meta({
        description: 'Open the browser at start, where there is no window.',
      }),
      service_url: Url.refine(
        (it) => it === null || isSafeService(it),
        'must be https://HOST, or http:// on this machine, without a path',
      )
        .default(null)
        .meta({
          description:
            'A service elsewhere that the application works with, in the place of its own: it signs in there with the wallet.',
        }),
      service_ca_file: File.default(null).meta({
        description: 'Certificate of the authority that vouches for that service, PEM; without it, the public ones do.',
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
            'What sandboxes run in, in the order they are tried: `bubblewrap` (Linux), `docker` (Docker, Podman, OrbStack, Colima).',
        }),
      docker: Docker.prefault({}),
      default_network: DefaultNetwork.default('auto').meta({
        description:
          'What a sandbox reaches when its creator does not say: `none`, `internet` (public addresses only) or `open`. `auto` is `internet` where this computer can connect sandboxes, else `none`.',
      }),
      warm_pool_size: z
        .int('must be a whole number')
        .min(0, 'must be at least 0')
        .max(16, 'must be at most 16')
        .nullable()
        .default(null)
        .meta({
          description:
            'How many bubblewrap sandboxes are started ahead, so that the next one is there at once. They are like your last one, and end when you have made none for ten minutes. Without a number: 2 on a computer with 16 GB of memory, 1 with 4 GB, else none.',
        }),
      cpu_weight: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(10_000, 'must be at most 10000')
        .default(25)
        .meta({
          description:
            'Processor time of all bubblewrap sandboxes together when the processors are busy, against 100 of Steward and every other program. A quarter by default: Steward answers at once beside sandboxes that do all they can, which have the idle time to themselves.',
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
            'Credits that the account of the owner begins with, given once. In the application they are a meter on your own provider keys: the Credits screen and POST /v1/credits/adjustments change them.',
        }),
      charge_sandboxes: z.boolean().default(false).meta({
        description:
          'Charge running sandboxes to the credits of their account, by the second. The service of the application never does; it only shows what they would cost.',
      }),
    })
    .prefault({}),
  payments: PaymentsConfig,
  domains: z
    .strictObject({
      dns_listen: Listen.nullable().default(null).meta({
        description:
          'Where DNS is answered, over UDP and TCP, for names of the test registry. Unset, the application answers at a free port of this computer, and a service that runs alone does not.',
      }),
      registrar: RegistrarConfig,
      rdap_bootstrap_file: z.string().min(1).nullable().default(null).meta({
        description:
          'The list of RDAP servers, as https://data.iana.org/rdap/dns.json has it, in the place of the short one that Steward comes with. They are asked whether names are registered in the world: `GET /domains/check?source=rdap`.',
      }),
      resolvers: z.array(DnsServerAddress).default([]).meta({
        description:
          'DNS servers that are asked for the proof that a domain of a sandbox is yours: addresses, with a port where it is another than 53. Empty: those of the system.',
      }),
      propagation_resolvers: z
        .array(DnsServerAddress)
        .max(12, 'must name at most 12 servers')
        .default(['1.1.1.1', '8.8.8.8', '9.9.9.9', '208.67.222.222'])
        .meta({
          description:
            'DNS servers that the window asks how far changed records have spread: IP addresses, with a port as in 127.0.0.1:5353. They learn the names that are looked at. The first one also finds the addresses of nameservers.',
        }),
    })
    .prefault({}),
  inference: InferenceConfig,
  wallet: z
    .strictObject({
      secret_store: z.enum(['auto', 'vault_file'], 'must be auto or vault_file').default('auto').meta({
        description:
          'Where a new wallet keeps its sealed secrets: `auto` is the keychain of the system, and a file of the data folder where there is none; `vault_file` is that file always. A wallet stays where it was made.',
      }),
      rpc: z
        .strictObject({
          base: RpcUrl.default('https://mainnet.base.org').meta({
            description: 'JSON-RPC of Base, where balances are read. It may hold a key: only its host is ever shown.',
          }),
          base_sepolia: RpcUrl.default('https://sepolia.base.org').meta({
            description: 'JSON-RPC of Base Sepolia, likewise.',
          }),
          solana: RpcUrl.default('https://api.mainnet-beta.solana.com').meta({
            description: 'JSON-RPC of Solana, which is asked for payments there, likewise.',
          }),
          solana_devnet: RpcUrl.default('https://api.devnet.solana.com').meta({
            description: 'JSON-RPC of Solana Devnet, likewise.',
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
            'Name of the EIP-712 domain that registrations are signed for: the wallet and the service need the same.',
        }),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error')
        .default('info')
        .meta({ description: 'The least severe entries that are written.' }),
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
    if (!key) throw createInvalidError(`The environment variable ${name} is none of Steward's.`)
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
    throw createInvalidError(`The configuration ${file} cannot be read: ${toReason(cause)}.`, cause)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw createInvalidError(`The configuration ${file} is not JSON: ${toReason(cause)}.`, cause)
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
    return `\`${key}\` in ${source.file} is no key of the configuration.`
  }
  const names = issue.path.filter((it) => typeof it === 'string')
  const key = listConfigKeys().find((it) => it.path.join('.') === names.join('.'))
  // An error about several keys has the path of the object that contains them.
  const within = listConfigKeys().filter(({ path }) => names.every((name, index) => path[index] === name))
  const [variable] = (key ? [key] : within).flatMap((part) =>
    source.environment[part.variable] ? [part.variable] : [],
  )
  const setting = variable ? `\`${names.join('.')}\` (from ${variable})` : `\`${names.join('.')}\` in ${source.file}`
  return `${setting} ${issue.message.startsWith('must') || issue.message.startsWith('needs') ? issue.message : `is wrong: ${issue.message}`}.`
}

function createInvalidError(message: string, cause?: unknown): AppError {
  return new AppError('config/invalid', message, { cause })
}

function toReason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
