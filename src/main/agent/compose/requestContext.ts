import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import type { PaymentPurpose } from '#shared/contract/paymentRecords.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import type { RequestContext, Target } from '../base/evaluateAction.ts'
import { ToolCaller } from '../base/toolCaller.ts'
import type { ToolRights } from '../base/toolRights.ts'
import type { PaymentRepository } from '../payments/paymentRepository.ts'
import { listTargets } from '../references/actionTargets.ts'
import type { ToolCallRepository } from '../tools/toolCallRepository.ts'

type Options = {
  calls: Pick<ToolCallRepository, 'ofIntent'>
  payments: Pick<PaymentRepository, 'ofIntent'>
  /** Finds a tool of a third-party server. @throws AppError with the reason why it cannot be used now */
  findTool: (name: string, rights: Pick<ToolRights, 'servers'>) => Tool | undefined
}

const purposeTools: Readonly<Record<PaymentPurpose, string>> = {
  fetch: 'x402_fetch',
  'domain-registration': 'domain_register',
  'domain-renewal': 'domain_renew',
  credits: 'credits_topup',
}

/** Reads the origin of a request from the stored calls and payments. */
export function createRequestContext({ calls, payments, findTool }: Options): RequestContext {
  const createCall: RequestContext['call'] = (request) => {
    const stored = request.kind === 'tool.call' ? calls.ofIntent(request.id) : undefined
    const caller = ToolCaller.safeParse(parseJsonOrUndefined(stored?.caller ?? '')).data
    if (!stored || !caller) return undefined
    const name = stored.record.tool
    const args = parseJsonOrUndefined(stored.argumentText)
    return {
      caller,
      name,
      toolOf: (rights) => findBuiltInTool(name) ?? findTool(name, rights),
      args: typeof args === 'object' && args !== null ? { ...args } : {},
    }
  }
  return {
    call: createCall,
    payingTool(request) {
      if (request.kind === 'identity.register') return 'identity_register'
      const payment = request.kind === 'x402.authorize' ? payments.ofIntent(request.id) : undefined
      return payment && purposeTools[payment.record.purpose]
    },
    targets(request) {
      const call = createCall(request)
      if (call) {
        const server = parseServerName(call.name)
        if (server !== undefined) return [{ kind: 'tool-server', id: server }]
        const tool = findBuiltInTool(call.name)
        return tool ? listTargets(tool, call.args) : []
      }
      const payment = request.kind === 'x402.authorize' ? payments.ofIntent(request.id) : undefined
      return payment?.request.via === 'service' ? listPurchaseTargets(payment.request.body) : []
    },
  }
}

/** Returns the sandbox named by a purchase from the service. */
function listPurchaseTargets(body: string | undefined): Target[] {
  const parsed = body === undefined ? undefined : parseJsonOrUndefined(body)
  if (typeof parsed !== 'object' || parsed === null || !('sandbox_id' in parsed)) return []
  return typeof parsed.sandbox_id === 'string' ? [{ kind: 'sandbox', id: parsed.sandbox_id }] : []
}
