import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { authLimits } from '#shared/contract/auth.ts'
import { ChainType } from '#shared/contract/wallet.ts'
import { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import type { SignInRights } from './refreshTokenRepository.ts'
import { toCaip10, type WalletName } from './walletRepository.ts'

export type AccessTokens = {
  create(options: { accountId: AccountId; familyId: string; wallet: WalletName }): string
  /**
   * Identifies the caller that a token belongs to.
   * @returns undefined if the token is unknown or expired, or its sign-in ended
   */
  identify(token: string): Promise<Caller | undefined>
}

/** Tolerance for clock corrections, in milliseconds. */
const maxSkewMs = 5 * 60_000
/**
 * The only accepted header. Compared as text, so the algorithm, the token type and the issuer are pinned before
 * anything is decoded. `at+jwt`: RFC 9068.
 */
const header = encodeSegment({ alg: 'HS256', typ: 'at+jwt', kid: 'steward' })
const issuer = 'urn:steward:service'
const audience = 'urn:steward:api'
const maxToken = 2048

const Claims = z.object({
  iss: z.literal(issuer),
  aud: z.literal(audience),
  sub: z.string(),
  iat: z.int(),
  exp: z.int(),
  account: AccountId,
  /** Sign-in that issued the token. */
  family: z.string(),
  wallet: z.object({ type: ChainType, address: z.string() }),
})

/**
 * JSON Web Tokens of one type, issued and accepted only by this service. Transactions create them, so the code uses
 * Node's synchronous HMAC: JWT libraries are asynchronous. A request reads the database only for a token that is valid
 * in itself.
 * @see https://www.rfc-editor.org/rfc/rfc8725
 */
export function createAccessTokens(options: {
  secret: Buffer
  /** @returns undefined after the sign-in ended or its wallet was unlinked */
  findRights: (familyId: string) => Promise<SignInRights | undefined>
  now: () => number
}): AccessTokens {
  const { secret, findRights, now } = options
  const mac = (signed: string) => createHmac('sha256', secret).update(signed).digest()
  return {
    create({ accountId, familyId, wallet }) {
      const issuedAt = Math.floor(now() / 1000)
      const claims: z.input<typeof Claims> = {
        iss: issuer,
        aud: audience,
        sub: toCaip10(wallet),
        iat: issuedAt,
        exp: issuedAt + authLimits.accessMs / 1000,
        account: accountId,
        family: familyId,
        wallet: { type: wallet.type, address: wallet.address },
      }
      const signed = `${header}.${encodeSegment(claims)}`
      return `${signed}.${mac(signed).toString('base64url')}`
    },
    async identify(token) {
      if (token.length > maxToken || !token.startsWith(`${header}.`)) return undefined
      const end = token.lastIndexOf('.')
      if (end === header.length) return undefined
      const signed = token.slice(0, end)
      const expected = Buffer.from(mac(signed).toString('base64url'))
      const signature = Buffer.from(token.slice(end + 1))
      // Compared as text, because base64 has several encodings of the same bytes and only one may be accepted.
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined
      const claims = parseClaims(signed.slice(header.length + 1))
      // A token issued in the future dates from before the clock was set back, so its hour may be over.
      if (!claims || claims.exp * 1000 <= now() || claims.iat * 1000 > now() + maxSkewMs) return undefined
      const { account, family, wallet } = claims
      const rights = await findRights(family)
      if (rights?.accountId !== account) return undefined
      return {
        accountId: account,
        principal: `sign-in:${family}`,
        expiresAtMs: claims.exp * 1000,
        owner: rights.owner,
        managesAccount: true,
        onlySandbox: undefined,
        keyId: undefined,
        wallet,
      }
    },
  }
}

/** Whether a text contains something that resembles one of our access tokens. */
export function isAccessToken(text: string): boolean {
  return text.includes(`${header}.`)
}

function encodeSegment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Call this only after verifying the signature. */
function parseClaims(payload: string): z.output<typeof Claims> | undefined {
  return Claims.safeParse(parseJson(Buffer.from(payload, 'base64url').toString('utf8'))).data
}
