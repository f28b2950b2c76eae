import { useCallback, useLayoutEffect, useRef, useState } from 'react'

/** A reader who scrolls down to so near the end is taken to follow it. */
const NEAR_PX = 48

/**
 * Keeps the end of a growing box in sight while the reader is there, and leaves readers alone who have scrolled away. A new
 * `jump` leads to the end in any case.
 */
export function useFollowedEnd(turns: unknown, jump: unknown) {
  const box = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  const lastTop = useRef(0)
  const [isAtEnd, setAtEnd] = useState(true)

  function toEnd() {
    const element = box.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn is what leads to the end.
  useLayoutEffect(() => {
    isFollowing.current = true
    toEnd()
  }, [jump])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs whenever the content has grown.
  useLayoutEffect(() => {
    if (isFollowing.current) toEnd()
  }, [turns])

  const content = useCallback((element: HTMLDivElement | null) => {
    if (element === null) return
    const observer = new ResizeObserver(() => {
      const { current } = box
      if (isFollowing.current && current !== null) current.scrollTop = current.scrollHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  return {
    box,
    /** For what is in the box: it also grows without new content, for instance when Markdown has been loaded. */
    content,
    isAtEnd,
    onScroll(): void {
      const element = box.current
      if (element === null) return
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight
      // A reader who scrolls up, however little, wants to read there.
      isFollowing.current = distance < (element.scrollTop < lastTop.current ? 1 : NEAR_PX)
      lastTop.current = element.scrollTop
      setAtEnd(isFollowing.current)
    },
    toEnd,
  }
}
