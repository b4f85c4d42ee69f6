import { generateKeyPairSync, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { base58 } from '@scure/base'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'

/** Text that contains a secret, and the part of it that must never leak. */
export type SecretText = { kind: string; text: string; secret: string }

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const drawText = (count: number, from = letters): string =>
  Array.from({ length: count }, () => from[randomInt(from.length)]).join('')
/** Includes at least one digit, as every issued key does. */
const drawToken = (count: number): string => `${drawText(count - 1)}7`
const base64url = (bytes = 32): string => randomBytes(bytes).toString('base64url')
/** Avoids text that looks like a Solana address or a name. */
function opaque(): string {
  for (;;) {
    const drawn = base64url()
    if (/[0OIl_-]/.test(drawn) && (drawn.match(/\d+/g) ?? []).length >= 4) return drawn
  }
}
const password = (): string => `Zq${drawText(6).toLowerCase()}9x`

/** Creates new secrets of every kind that a user or program may paste. */
export function secretKinds(): SecretText[] {
  const secrets: SecretText[] = []
  const addAlone = (kind: string, secret: string): void => void secrets.push({ kind, text: secret, secret })
  const within = (kind: string, secret: string, text: (secret: string) => string): void =>
    void secrets.push({ kind, text: text(secret), secret })

  // Keys of the five families, and of similar providers.
  addAlone('OpenAI', `sk-proj-${drawToken(48)}`)
  addAlone('Anthropic', `sk-ant-api03-${drawToken(80)}-${drawToken(8)}AA`)
  addAlone('Google', `AIza${drawToken(35)}`)
  addAlone('Moonshot', `sk-${drawToken(48)}`)
  addAlone('DeepInfra or another one by its entropy', opaque())
  addAlone('xAI', `xai-${drawToken(80)}`)
  addAlone('OpenRouter', `sk-or-v1-${randomBytes(32).toString('hex')}`)

  addAlone('API key of Steward', `sk_steward_${base64url()}`)
  addAlone('key of a tool client', `sk_tools_${base64url()}`)
  addAlone('session token', opaque())
  within('start token', base64url(), (it) => `http://127.0.0.1:4311/#token=${it}`)
  // No two secrets share a part. Otherwise, a match could come from another secret.
  addAlone('JWT', `eyJ${base64url()}.eyJ${base64url()}.${base64url()}`)

  addAlone('phrase of 12 words', generateMnemonic(wordlist, 128))
  addAlone('phrase of 24 words', generateMnemonic(wordlist, 256))
  addAlone('private key, hexadecimal', randomBytes(32).toString('hex'))
  addAlone('private key with 0x', `0x${randomBytes(32).toString('hex')}`)
  addAlone('private key, base58', base58.encode(randomBytes(64)))
  addAlone('private key, bytes', `[${[...randomBytes(64)].join(',')}]`)
  addAlone('private key, spread bytes', `[${[...randomBytes(32)].join(', ')}]`)
  addAlone('PEM', pem())
  within('PEM on one line', pem().replaceAll('\n', '\\n'), (it) => `{"private_key":"${it}"}`)

  within(
    'Authorization header',
    base64url(18),
    (secret) => `curl -H 'Authorization: Bearer ${secret}' https://api.example.com`,
  )
  within(
    'bearer of an argument',
    password(),
    (secret) => `curl --oauth2-bearer ${secret} -H "authorization:token ${secret}"`,
  )
  within('basic auth', Buffer.from(`ada:${password()}`).toString('base64'), (it) => `Authorization: Basic ${it}`)
  within('basic auth alone', Buffer.from(`ada:${password()}`).toString('base64'), (it) => `Basic ${it}`)
  within('user of curl', password(), (it) => `curl -u ada:${it} https://example.com`)
  within('cookie', base64url(12), (secret) => `curl -H 'Cookie: theme=dark; sid=${secret}' https://example.com`)
  within('header of a key', password(), (it) => `curl -H "X-Api-Key: ${it}" https://example.com`)
  within('userinfo', password(), (it) => `git clone https://ada:${it}@git.example.com/a.git`)
  within('userinfo of a database', `p@${password()}`, (it) => `postgres://ada:${it}@10.0.0.1:5432/shop`)
  within('query key', password(), (it) => `https://api.example.com/v1?zip=8000&key=${it}&x=1`)
  within('query token', password(), (it) => `https://api.example.com/v1?access_token=${it}`)
  within('signed address', drawText(32).toLowerCase(), (it) => `https://s3.example.com/a?X-Amz-Signature=${it}`)
  addAlone('AWS key id', `AKIA${drawText(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`)
  within('AWS secret', base64url(30), (it) => `aws_secret_access_key = ${it}`)
  addAlone('GitHub', `ghp_${drawToken(36)}`)
  addAlone('GitHub, fine', `github_pat_${drawToken(22)}_${drawToken(59)}`)
  addAlone('GitLab', `glpat-${drawToken(20)}`)
  addAlone('Slack', `xoxb-${randomInt(1e9, 9e9)}-${randomInt(1e9, 9e9)}-${drawToken(24)}`)
  within('Slack address', drawToken(24), (secret) => `https://hooks.slack.com/services/T0123456/B0123456/${secret}`)
  addAlone('Stripe', `sk_live_${drawToken(24)}`)
  addAlone('npm', `npm_${drawToken(36)}`)
  within('assignment', `plain-${password()}`, (it) => `OPENAI_API_KEY=${it} node main.js`)
  within('assignment with quotes', `two words ${password()}`, (it) => `export DB_PASSWORD="${it}"; run`)
  within('assignment of a key', password(), (it) => `MAPS_KEY=${it} run`)
  within('field of JSON', password(), (it) => `{"user":"ada","clientSecret":"${it}"}`)
  within('field of JSON in JSON', password(), (it) => JSON.stringify(`{"apiKey":"${it}"}`))
  within('line of YAML', password(), (it) => `password: ${it}`)
  within('two arguments', password(), (it) => `deploy --token ${it} --region eu`)
  within('two arguments of a list', password(), (it) => `["deploy","--api-key","${it}"]`)
  within('one argument', password(), (it) => `deploy --github-token=${it}`)
  return secrets
}

/** Embeds the secret between words of other scripts. */
export function embedInText({ text }: SecretText): string {
  return `Schlüssel für Zoë → ${text} ← 密钥 🔑`
}

/** Returns ordinary texts that must stay readable. */
export function ordinaryTexts(): string[] {
  const hash = randomBytes(32).toString('hex')
  return [
    `git checkout ${randomBytes(20).toString('hex')}`,
    `git log --oneline ${randomBytes(4).toString('hex')}..HEAD`,
    `Paid 5.00 USDC to 0x${randomBytes(20).toString('hex')} on Base.`,
    'Paid to 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045.',
    `Sent SOL to ${base58.encode(Buffer.concat([Buffer.from([200]), randomBytes(31)]))}.`,
    `https://basescan.org/tx/0x${hash}`,
    `Settled with transaction 0x${hash}.`,
    `docker pull node@sha256:${hash}`,
    `Sandbox ${randomUUID()} of ${randomBytes(16).toString('hex')}`,
    'Wrote /home/ada/Projects/Shop2/src/main/java/com/example/OrderServiceImplTest.java (3.1 kB).',
    'cat /usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30 /root/.npm/_cacache/index-v5/4a/2b/9c1d',
    'ls Screenshot-2026-11-23-from-Firefox-at-12-33-05.png',
    'npm install @modelcontextprotocol/sdk@1.32.0 --save-exact',
    'pip install scikit-learn sk-learn-contrib-project && sort --key=2,2 -u a:b',
    'docker run -u 1000:1000 -e API_KEY -e TOKEN=$TOKEN node:22',
    'curl -H "X-Api-Key: $OPENAI_API_KEY" https://api.openai.com/v1/models',
    'The bearer of news said: basic needs come first. The token: USDC. The secret is out.',
    'https://example.com/search?q=steward&page=2&sort=price#results',
    'git clone git@github.com:owner/repository.git && git clone ssh://git@github.com/owner/repository.git',
    'kimi-k2.5 answered in a chat: $0.0042. max_tokens=4096, input_tokens: 120',
    'Set A example.com → 93.184.216.34, TXT “v=spf1 include:_spf.example.com ~all”.',
    'Replay int_0123456789abcdef01234567 of pay_0123456789abcdef01234567 and mcp_0123456789abcdef01234567',
    'ThisIsAVeryLongCamelCaseIdentifierOfTheFactoryBeanProvider2',
    '2026-11-23T18:31:45.000Z 12:30:05 10.0.0.1:8080 [::1]:443 1,2,3,4,5',
    'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG',
    `integrity sha512-${randomBytes(64).toString('base64')}`,
  ]
}

function pem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim()
}
