import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from '@x402/core/schemas'
import { isSignedByPayer, type PaymentAuthorization } from '#service/payments/paymentAuthorization.ts'
import type { EvmNetwork } from '#shared/contract/networks.ts'
import { createListening } from './listening.ts'

/** Error of a facilitator. With `moves`, the transfer happens before it. Otherwise, no funds move. */
export type Trouble = {
  moves: boolean
  how: 'cut' | 'silent' | 503 | 'no-json' | 'other-network' | 'other-payer' | 'no-hash' | { says: string }
}

/**
 * Strict facilitator by https://docs.x402.org: POST /verify and /settle of version 2. Rejects whatever the schemas of
 * @x402/core do not allow. Moves real tokens of its chain.
 */
export async function strictFacilitator(network: EvmNetwork) {
  const balances = new Map<string, number>()
  const used = new Map<string, string>()
  let trouble: Trouble | undefined
  const settles: PaymentAuthorization[] = []
  const tokens: { path: string; token: string }[] = []
  const balance = (address: string) => balances.get(address.toLowerCase()) ?? 0
  const add = (address: string, atomic: number) => void balances.set(address.toLowerCase(), balance(address) + atomic)

  const findRefusal = async (authorization: PaymentAuthorization): Promise<string | undefined> => {
    if (used.has(authorization.from + authorization.nonce)) return 'invalid_exact_evm_nonce_already_used'
    if (!(await isSignedByPayer(authorization, network))) return 'invalid_exact_evm_payload_signature'
    if (Number(authorization.validBefore) * 1000 < Date.now())
      return 'invalid_exact_evm_payload_authorization_valid_before'
    return balance(authorization.from) < Number(authorization.value) ? 'insufficient_funds' : undefined
  }
  const move = (authorization: PaymentAuthorization): string => {
    const hash = `0x${createHash('sha256')
      .update(authorization.from + authorization.nonce)
      .digest('hex')}`
    used.set(authorization.from + authorization.nonce, hash)
    add(authorization.from, -Number(authorization.value))
    add(authorization.to, Number(authorization.value))
    return hash
  }
  const settle = async (authorization: PaymentAuthorization) => {
    settles.push(authorization)
    const answer = { network: network.id, payer: authorization.from }
    const reason = await findRefusal(authorization)
    if (reason !== undefined) return { ...answer, success: false, errorReason: reason, transaction: '' }
    return { ...answer, success: true, transaction: move(authorization) }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    const [, token] = (request.headers.authorization ?? '').split('Bearer ')
    if (token !== undefined) tokens.push({ path: String(request.url), token })
    const body = JSON.parse(await text(request))
    const payload = PaymentPayloadV2Schema.safeParse(body.paymentPayload)
    const requirements = PaymentRequirementsV2Schema.safeParse(body.paymentRequirements)
    if (request.method !== 'POST' || body.x402Version !== 2 || !payload.success || !requirements.success) {
      return send(400, { error: 'invalid_payload' })
    }
    const { signature, authorization } = body.paymentPayload.payload
    const signed: PaymentAuthorization = { ...authorization, signature }
    if (request.url === '/x402/verify') {
      const invalidReason = await findRefusal(signed)
      return send(200, { isValid: invalidReason === undefined, invalidReason, payer: signed.from })
    }
    if (!trouble) return send(200, await settle(signed))
    const { moves, how } = trouble
    const requested = moves
      ? await settle(signed)
      : { success: true, transaction: `0x${'0'.repeat(64)}`, network: network.id }
    if (how === 'silent') return
    if (how === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 400 }).write('{"success": true')
      return void setImmediate(() => response.destroy())
    }
    if (how === 503) return send(503, { success: false, errorReason: 'insufficient_funds' })
    if (how === 'no-json') return void response.writeHead(200).end('<html>It is fine</html>')
    if (how === 'other-network') return send(200, { ...requested, network: 'eip155:1' })
    if (how === 'other-payer') return send(200, { ...requested, payer: `0x${'9'.repeat(40)}` })
    if (how === 'no-hash') return send(200, { ...requested, transaction: '' })
    return send(200, { success: false, errorReason: how.says, transaction: '', network: network.id })
  }
  const server = createServer((request, response) => void answer(request, response))
  const { url, close } = await createListening(server)
  return {
    url: `${url}/x402/`,
    settles,
    /** Tokens received with requests, in order. */
    tokens,
    balance,
    add,
    meets(what: Trouble | undefined) {
      trouble = what
    },
    close,
  }
}
