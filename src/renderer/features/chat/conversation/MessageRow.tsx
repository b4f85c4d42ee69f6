import { memo } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { BranchRow } from '../data/branch.ts'
import { AnswerColumns } from './AnswerColumns.tsx'
import { AnswerView } from './AnswerView.tsx'
import { PersonMessage } from './PersonMessage.tsx'

type MessageRowProps = {
  row: BranchRow
  /** A link led to it. */
  isSought: boolean
  isLast: boolean
}

/** A message in the column of the conversation; answers side by side take the whole width. */
export const MessageRow = memo(
  function MessageRow({ row: { message, beside }, isSought, isLast }: MessageRowProps) {
    const isWide = beside.length > 1
    return (
      <div className={joinClassNames('mx-auto w-full px-6 pt-5 max-narrow:px-4', isWide ? 'max-w-292' : 'max-w-200')}>
        <div className={joinClassNames('rounded-card', isSought && 'outline-2 outline-offset-8 outline-accent-soft')}>
          {isWide ? (
            <AnswerColumns answers={beside} selectedId={message.id} isLast={isLast} />
          ) : message.role === 'user' ? (
            <PersonMessage message={message} />
          ) : (
            <AnswerView message={message} isLast={isLast} />
          )}
        </div>
      </div>
    )
  },
  (before, next) =>
    before.isSought === next.isSought &&
    before.isLast === next.isLast &&
    before.row.message === next.row.message &&
    before.row.beside.length === next.row.beside.length &&
    before.row.beside.every((it, index) => it === next.row.beside[index]),
)
