"""What is asked: content only, a book of exercises for each chapter and each lab, found by their names."""
