import { type LinkKind, linkKinds, TaskId } from '#shared/contract/timelineLinks.ts'
import { useRoute } from '../../ui/route.ts'

/**
 * View of the screen, parsed from the URL: `#/activity/task/TASK`, `#/activity/payment/ID` (or another kind of link),
 * `#/activity/tasks`, `#/activity/recordings/ID`, or `#/activity/WORDS`.
 */
export type ActivityPlace =
  | { kind: 'all'; search: string }
  | { kind: 'task'; task: TaskId }
  | { kind: 'tasks' }
  | { kind: 'link'; to: LinkKind; id: string }
  | { kind: 'recordings'; id: string | undefined }

export function parseActivityPlace([, first = '', second]: readonly string[]): ActivityPlace {
  if (first === 'recordings') return { kind: 'recordings', id: second }
  if (first === 'tasks') return { kind: 'tasks' }
  const task = first === 'task' ? TaskId.safeParse(second).data : undefined
  if (task !== undefined) return { kind: 'task', task }
  const to = linkKinds.find((it) => it === first)
  if (to !== undefined && second !== undefined) return { kind: 'link', to, id: second }
  return { kind: 'all', search: first }
}

export const linkNames: Record<LinkKind, string> = {
  conversation: 'chat',
  message: 'message',
  intent: 'request',
  payment: 'payment',
  tool_call: 'tool call',
  sandbox: 'sandbox',
  terminal: 'terminal',
  domain: 'domain',
  plan: 'DNS plan',
  registration: 'registration',
  recording: 'recording',
}

export function useActivityPlace(): { place: ActivityPlace; key: string; isHere: boolean } {
  const parts = useRoute()
  return { place: parseActivityPlace(parts), key: parts.slice(1).join('/'), isHere: parts[0] === 'activity' }
}
