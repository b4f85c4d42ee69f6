import { describeIssue } from '#shared/contract/describeIssue.ts'
import { Intent } from '#shared/contract/intents.ts'
import { solanaNetwork } from '#shared/contract/networks.ts'
import { evmSignatures } from './evmSignature.ts'
import { identityRegistration } from './identityRegistration.ts'
import { paymentAuthorization } from './paymentAuthorization.ts'
import type { PreparedIntent, Signer } from './signer.ts'
import { signIn } from './signIn.ts'
import { solanaPayment } from './solanaPayment.ts'
import { textMessage } from './textMessage.ts'
import { toolCall } from './toolCall.ts'
import { type IntentOf, type IntentTools, refused, type SignerTools, type Understood } from './understood.ts'
import { uptoPayment } from './uptoPayment.ts'

/** Nothing that was prepared before is trusted: the bytes are built anew from the intent, and must be what was shown. */
export function intentSigner(given: SignerTools): Signer {
  const tools: IntentTools = { ...given, signEvm: evmSignatures(given.keys) }
  const understand = (wish: unknown): Promise<Understood> => {
    const intent = intentOf(wish)
    switch (intent.kind) {
      case 'identity.register':
        return identityRegistration(intent, tools)
      case 'siwe':
      case 'siws':
        return signIn(intent, tools)
      case 'x402.authorize':
        return paymentOf(intent)(intent, tools)
      case 'message':
        return textMessage(intent, tools)
      case 'tool.call':
        return toolCall(intent)
    }
  }

  return {
    prepare: async (intent) => (await understand(intent)).prepared,
    async sign(shown) {
      const { prepared, sign } = await understand(shown.intent)
      if (!isSame(prepared, shown)) throw refused('What would be signed is no longer what was shown: ask again.')
      return sign()
    },
  }
}

function paymentOf({ network, facilitator }: IntentOf<'x402.authorize'>) {
  if (solanaNetwork(network)) return solanaPayment
  return facilitator === undefined ? paymentAuthorization : uptoPayment
}

function intentOf(given: unknown): Intent {
  const { data, error } = Intent.safeParse(given)
  if (data) return data
  const [issue] = error.issues
  throw refused(issue ? describeIssue(issue, given) : 'This is no intent.', error)
}

function isSame(one: PreparedIntent, other: PreparedIntent): boolean {
  return (
    one.raw === other.raw &&
    one.sentence === other.sentence &&
    one.account.id === other.account.id &&
    one.account.address === other.account.address
  )
}
