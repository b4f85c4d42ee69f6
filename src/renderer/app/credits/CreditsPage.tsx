import { ChatBudgetPanel } from '../../features/chat/money/ChatBudgetPanel.tsx'
import { CreditsScreen } from '../../features/credits/CreditsScreen.tsx'

/** The credits, with the limits of those that spend them. */
export function CreditsPage() {
  return <CreditsScreen budgets={<ChatBudgetPanel />} />
}
