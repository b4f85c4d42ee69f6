import { ChatBudgetPanel } from '../../features/chat/money/ChatBudgetPanel.tsx'
import { CreditsScreen } from '../../features/credits/CreditsScreen.tsx'

/** Credits page with the budgets of features that spend credits. */
export function CreditsPage() {
  return <CreditsScreen budgets={<ChatBudgetPanel />} />
}
