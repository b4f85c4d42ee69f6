import { type Dispatch, type SetStateAction, useRef, useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { describeError } from '#renderer/ui/describeError.ts'
import { AppError } from '#shared/appError.ts'
import { addAttachment } from '#shared/contract/chatLibrary.ts'
import { chatLimits } from '#shared/contract/chats.ts'
import type { Draft } from './drafts.ts'

export type RefusedFile = { name: string; reason: string }

/**
 * Uploads selected, pasted or dropped files. `refused` contains the files of the last attempt that cannot be attached.
 */
export function useAttachments(draft: Draft, setDraft: Dispatch<SetStateAction<Draft>>) {
  const agent = useAgent()
  const [uploading, setUploading] = useState(0)
  const [refused, setRefused] = useState<readonly RefusedFile[]>([])
  /** Updated synchronously, because two pastes may arrive before the next render. */
  const underWay = useRef(0)
  const add = async (files: readonly File[]): Promise<void> => {
    const room = chatLimits.attachments - draft.attachments.length - underWay.current
    const accepted = files.slice(0, Math.max(0, room))
    const reason = `Attach at most ${chatLimits.attachments} files.`
    setRefused(files.slice(accepted.length).map(({ name }) => ({ name: name || 'The file', reason })))
    underWay.current += accepted.length
    setUploading((count) => count + accepted.length)
    await Promise.all(
      accepted.map(async (file, index) => {
        try {
          if (file.size > chatLimits.imageBytes) throw createTooLargeError()
          const name = (file.name || `pasted-${index + 1}`).slice(-255)
          const attachment = await agent(addAttachment, { name }, { bytes: file })
          setDraft((before) => ({ ...before, attachments: [...before.attachments, attachment] }))
        } catch (error) {
          const { message, hint } = describeError(error)
          setRefused((before) => [...before, { name: file.name || 'The file', reason: `${message} ${hint}` }])
        } finally {
          underWay.current -= 1
          setUploading((count) => count - 1)
        }
      }),
    )
  }
  const remove = (id: string) =>
    setDraft((before) => ({ ...before, attachments: before.attachments.filter((it) => it.id !== id) }))
  return { add, remove, uploading, refused, forgetRefused: () => setRefused([]) }
}

/** Detected before the upload starts. */
function createTooLargeError(): AppError {
  return new AppError('chat/attachment-too-large', `The file is larger than ${chatLimits.imageBytes / 1024 ** 2} MB.`)
}
