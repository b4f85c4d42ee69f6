import { KeyRound, MessagesSquare } from 'lucide-react'
import { type Ref, useImperativeHandle, useRef, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { goTo } from '#renderer/ui/route.ts'
import { noTools } from '#shared/contract/chatTools.ts'
import { Composer, type ComposerHandle } from '../composer/Composer.tsx'
import { type Draft, storeDraft } from '../composer/drafts.ts'
import { useChatActions } from '../data/useChatActions.ts'
import { useChatBudget } from '../data/useChatBudget.ts'
import { useModels } from '../data/useModels.ts'
import { findFirstModel } from '../models/modelGroups.ts'
import { saveRecentModels } from '../models/recentModels.ts'
import { useModelsFor } from '../models/useModelsFor.ts'
import { BudgetBanner } from '../money/BudgetBanner.tsx'
import type { ConversationHandle } from './ConversationView.tsx'

/** Chat that is created with its first message. */
export function NewChat({ ref }: { ref?: Ref<ConversationHandle> }) {
  const actions = useChatActions()
  const { data: listed } = useModels()
  const { data: budget } = useChatBudget()
  const [chosen, setChosen] = useState<string[]>([])
  const [tools, setTools] = useState(noTools)
  const composer = useRef<ComposerHandle>(null)
  useImperativeHandle(ref, () => ({ focus: () => composer.current?.focus(), stop: () => {} }))
  const first = findFirstModel(listed ?? [])
  const models = useModelsFor(chosen)
  const isUnconfigured = listed !== undefined && first === undefined

  const send = async (draft: Draft) => {
    const { id } = await actions.create({ models, tools })
    try {
      await actions.send({
        conversationId: id,
        parent_id: null,
        text: draft.text,
        attachment_ids: draft.attachments.map((it) => it.id),
        models,
      })
    } catch (error) {
      // The chat exists now, so the draft is stored under its id.
      storeDraft(id, draft)
      goTo('chat', id)
      throw error
    }
    goTo('chat', id)
  }
  return (
    <div className="flex size-full min-h-0 flex-col">
      <div
        className={joinClassNames(
          'flex min-h-0 flex-1 flex-col items-center justify-center gap-3 p-6 text-center',
          // In a small window the content must stay reachable. Without a button, an overflowing area could not be
          // scrolled by keyboard.
          isUnconfigured ? 'overflow-auto' : 'overflow-hidden',
        )}
      >
        <MessagesSquare aria-hidden className="size-7 text-faint" />
        <h3 className="text-large font-semibold">What do you want to know?</h3>
        {isUnconfigured ? (
          <>
            <p className="max-w-96 text-muted">Add a provider key or connect a local model to start chatting.</p>
            <Button variant="primary" icon={KeyRound} onClick={() => goTo('settings', 'models')}>
              Set up models
            </Button>
          </>
        ) : (
          <p className="max-w-96 text-muted">
            You see what a message costs before you send it. Chats stay on this computer.
          </p>
        )}
      </div>
      <Composer
        ref={composer}
        place="new"
        conversationId={null}
        parentId={null}
        models={models}
        onModels={(next) => {
          setChosen(next)
          saveRecentModels(next)
        }}
        onSend={send}
        onStop={undefined}
        onLimits={() => goTo('chat', 'limits')}
        tools={tools}
        onTools={(changes) => setTools((before) => ({ ...before, ...changes }))}
        stopped={budget?.today.state === 'stopped'}
      >
        {budget && <BudgetBanner budget={[budget.today]} onChange={() => goTo('chat', 'limits')} />}
      </Composer>
    </div>
  )
}
