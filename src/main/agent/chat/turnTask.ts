import type { RecordActivity } from '../base/recordActivity.ts'
import type { TaskContext } from '../base/taskContext.ts'
import type { ChatStore } from './chatStore.ts'
import type { RunJob } from './runExecutor.ts'

/**
 * Generates a message as part of the turn of its user message: all consequences belong to that turn, regardless of the
 * model and of repetitions. The activity log contains no chat text, because chats can be deleted.
 */
export function withTurnTask(
  begin: (job: RunJob) => void,
  {
    store,
    tasks,
    recordActivity,
  }: { store: Pick<ChatStore, 'messages'>; tasks: Pick<TaskContext, 'run'>; recordActivity: RecordActivity },
): (job: RunJob) => void {
  return (job) => {
    const { row, conversation, plan } = job
    const question = store.messages.findByNumbers([row.parent])[0]?.id ?? row.id
    const links = { conversation: conversation.id, message: question }
    tasks.run({ id: `chat:${question}`, links }, () => {
      recordActivity({
        kind: 'chat.asked',
        actor: { kind: 'person', name: 'You' },
        subject: conversation.id,
        summary: `You asked ${plan.model.id} in a chat.`,
        detail: { conversation_id: conversation.id, message_id: question, model: plan.model.id },
      })
      begin(job)
    })
  }
}
