/** For inputs that hold no prose: nothing is completed, corrected or marked as misspelt. */
export const plainText = { autoComplete: 'off', autoCapitalize: 'none', autoCorrect: 'off', spellCheck: false } as const
