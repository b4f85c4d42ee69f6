import type { RecordActivity } from '../base/recordActivity.ts'
import type { TaskContext } from '../base/taskContext.ts'
import type { AnswerJob } from './answering.ts'
import type { ChatStore } from './chatStore.ts'

/**
 * Makes an answer as part of the turn of its question: all that follows from it belongs to that question, whichever
 * model answers and however often. The log has no words of a chat, which can be deleted.
 */
export function withTurnTask(
  begin: (job: AnswerJob) => void,
  { store, tasks, note }: { store: Pick<ChatStore, 'messages'>; tasks: Pick<TaskContext, 'run'>; note: RecordActivity },
): (job: AnswerJob) => void {
  return (job) => {
    const { row, conversation, plan } = job
    const question = store.messages.findByNumbers([row.parent])[0]?.id ?? row.id
    const links = { conversation: conversation.id, message: question }
    tasks.run({ id: `chat:${question}`, links }, () => {
      note({
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
